// Access for decoders written in Swift, with bounds checks.
extension Bitmap {
  /// Calls `body` with the samples of the only plane, row after row without gaps.
  func write<Failure: Error>(_ body: (inout MutableSpan<UInt8>) throws(Failure) -> Void) throws(Failure) {
    let count = size.area * layout.channels
    var samples = unsafe MutableSpan(_unsafeStart: planes[0].samples, count: count)
    try body(&samples)
  }
}

/// A color of a palette, or a pixel.
struct PixelColor: Hashable, Sendable {
  var red, green, blue: UInt8
  var alpha: UInt8 = 255

  static let black = PixelColor(red: 0, green: 0, blue: 0)
  static let transparent = PixelColor(red: 0, green: 0, blue: 0, alpha: 0)
}

extension MutableSpan where Element == UInt8 {
  /// Sets the pixel whose samples begin at `offset`: red, green, blue and, with four channels, alpha.
  @inline(__always)
  mutating func set(_ color: PixelColor, at offset: Int, channels: Int) {
    self[offset] = color.red
    self[offset + 1] = color.green
    self[offset + 2] = color.blue
    if channels == 4 { self[offset + 3] = color.alpha }
  }
}
