// Decodes arbitrary bytes as a whole file in a format whose decoder is written in Swift, at full size and for a
// thumbnail. JPEG and PNG files have their own targets.

import CImage

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = UnsafeBufferPointer(start: start, count: count).span
  let limits = DecodingLimits(maxPixels: 1 << 16)
  guard let file = try? ImageFile(bytes, limits: limits, decoders: RenderingCaches().decoders) else { return 0 }
  let format = file.decoder.header.format
  guard format != .jpeg, format != .png else { return 0 }
  decode(file, bytes)
  var small = file
  small.decoder.adapt(to: DecodingDemand(targets: [DecodingDemand.Target(reduction: 3)], form: .pixels))
  decode(small, bytes)
  return 0
}

private func decode(_ file: ImageFile, _ bytes: Span<UInt8>) {
  let sink = CheckingSink(PixelBox(size: file.decoder.header.storedSize))
  var warnings: [String] = []
  do throws(ImageError) {
    try file.decode(bytes, colors: ColorTransformCache(), into: sink, warnings: &warnings)
    sink.checkEnd()
  } catch {
    if error.message.isEmpty { fatalError("no message") }
  }
  if file.decoder.peakBytes < 0 || warnings.count > 1000 { fatalError("\(file.decoder.peakBytes), \(warnings)") }
}

/// Reads every sample, and fails if the rows do not fill the shape.
private final class CheckingSink: RowSink {
  private let area: PixelBox
  private var shape: DecodedShape?
  private var count = 0
  private var sum: UInt64 = 0

  init(_ area: PixelBox) { self.area = area }

  func begin(_ shape: DecodedShape) {
    if self.shape != nil || shape.planes.count != 1 || shape.planes[0].area != area { fatalError("\(shape)") }
    self.shape = shape
  }

  func needed(ofPlane index: Int) -> CImageArea {
    let size = shape?.planes[index].size ?? PixelSize(width: 1, height: 1)
    return CImageArea(left: 0, top: 0, right: Int32(size.width), bottom: Int32(size.height))
  }

  func skip(_ counts: [Int]) { fatalError("a row was omitted that was requested") }

  func take(_ rows: [CImageBitmap]) {
    guard let shape, Int(rows[0].width) == shape.planes[0].size.width else { fatalError("rows of another width") }
    count += Int(rows[0].height)
    let bytes = Int(rows[0].width * rows[0].channels)
    for row in 0..<Int(rows[0].height) {
      for index in 0..<bytes { sum &+= UInt64(rows[0].pixels[row * rows[0].stride + index]) }
    }
  }

  func checkEnd() {
    if count != shape?.planes[0].size.height { fatalError("\(count) rows of \(String(describing: shape))") }
  }
}
