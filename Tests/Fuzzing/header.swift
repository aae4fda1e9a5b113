// Reads arbitrary bytes as an image header: the whole input, and a prefix whose length the first byte chooses.

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = UnsafeBufferPointer(start: start, count: count)
  let cut = count > 0 ? Int(bytes[0]) * count / 255 : 0
  let whole = read(bytes)
  let part = read(UnsafeBufferPointer(rebasing: bytes[..<cut]))
  // A result for a prefix must not change when more bytes arrive.
  if let part, part != whole { fatalError("\(part) became \(String(describing: whole))") }
  if let exif = try? Orientation(exif: bytes.span), !(1...8).contains(exif.rawValue) { fatalError("impossible") }
  return 0
}

/// Returns the result as text, or nil if more bytes are needed.
private func read(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
  do throws(ImageError) {
    guard var file = try ImageFile(prefix: bytes.span, limits: DecodingLimits(maxPixels: 1 << 24)) else { return nil }
    let header = file.decoder.header
    file.decoder.readTrailer(bytes.span.extracting(file.start...))
    return "\(header.format) \(header.storedSize) \(header.layout)"
  } catch {
    return error.code == .notAnImage ? "not an image" : error.message
  }
}
