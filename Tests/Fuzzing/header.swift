// Reads anything as the header of a picture, in all of it and in every way cut short that the first bytes choose.

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = UnsafeBufferPointer(start: start, count: count)
  let cut = count > 0 ? Int(bytes[0]) * count / 255 : 0
  let whole = read(bytes)
  let part = read(UnsafeBufferPointer(rebasing: bytes[..<cut]))
  // What a part of the file made certain, the whole must not take back.
  if let part, part != whole { fatalError("\(part) became \(String(describing: whole))") }
  if let exif = try? Orientation(exif: bytes.span), !(1...8).contains(exif.rawValue) { fatalError("impossible") }
  return 0
}

/// The outcome as text, or nil while it is not certain.
private func read(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
  do throws(ImageError) {
    guard let header = try ImageHeader.read(bytes.span, maxPixels: 1 << 24) else { return nil }
    return "\(header.completed(by: bytes.span).format) \(header.storedSize) \(header.layout)"
  } catch {
    return error.code == .notAnImage ? "not an image" : error.message
  }
}
