/// The rows of a bitmap that is not compressed, in any order.
struct DIBRows {
  private let header: DIBHeader
  private let channels: Int
  private let colors: [PixelColor]
  private let red, green, blue, alpha: DIBChannel
  /// True if the alpha of the bitmap counts.
  let hasAlpha: Bool

  /// True if the file has all rows. Missing pixels are transparent, or gray if there is no alpha.
  let isComplete: Bool

  /// Prepares to read pixels of `channels` samples. Throws `truncated` if the file has no row.
  ///
  /// - Parameters:
  ///   - header: The header of the bitmap.
  ///   - bytes: The bytes in which the header was read.
  ///   - channels: 3, or 4 to read alpha too.
  init(_ header: DIBHeader, _ bytes: Span<UInt8>, channels: Int) throws(ImageError) {
    guard header.pixelStart + header.usedRowBytes <= bytes.count else { throw DIBHeader.truncated }
    isComplete = header.pixelEnd - header.rowBytes + header.usedRowBytes <= bytes.count
    self.header = header
    self.channels = channels
    colors = header.bitCount <= 8 ? header.palette.colors(bytes) : []
    (red, green, blue) = (
      DIBChannel(header.masks.red), DIBChannel(header.masks.green), DIBChannel(header.masks.blue)
    )
    let alpha = DIBChannel(header.masks.alpha, missing: 255)
    // Many writers do not set alpha, so that all pixels are transparent. Browsers ignore it then.
    hasAlpha = header.masks.alpha != 0 && Self.hasVisiblePixel(header, bytes, alpha)
    self.alpha = hasAlpha ? alpha : DIBChannel(0, missing: 255)
  }

  /// Sets the samples of each pixel of a stored row, from the offset `target` on.
  func read(_ row: Int, from bytes: Span<UInt8>, to samples: inout MutableSpan<UInt8>, at target: Int) {
    let start = header.pixelStart + row * header.rowBytes
    guard start + header.usedRowBytes <= bytes.count else {
      for offset in target..<target + header.size.width * channels { samples[offset] = channels == 4 ? 0 : 128 }
      return
    }
    if header.bitCount <= 8 {
      readIndices(at: start, from: bytes, to: &samples, at: target)
    } else {
      readPixels(at: start, from: bytes, to: &samples, at: target)
    }
  }

  private func readIndices(
    at start: Int, from bytes: Span<UInt8>, to samples: inout MutableSpan<UInt8>, at target: Int
  ) {
    let count = header.bitCount
    let limit = UInt8(1 << count - 1)
    for column in 0..<header.size.width {
      let bit = column * count
      let index = bytes[start + bit >> 3] >> UInt8(8 - count - bit & 7) & limit
      samples.set(colors[Int(index)], at: target + column * channels, channels: channels)
    }
  }

  private func readPixels(
    at start: Int, from bytes: Span<UInt8>, to samples: inout MutableSpan<UInt8>, at target: Int
  ) {
    let step = header.bitCount / 8
    for column in 0..<header.size.width {
      let pixel = Self.pixel(bytes, at: start + column * step, step)
      let color = PixelColor(
        red: red.value(pixel), green: green.value(pixel), blue: blue.value(pixel), alpha: alpha.value(pixel))
      samples.set(color, at: target + column * channels, channels: channels)
    }
  }

  @inline(__always)
  private static func pixel(_ bytes: Span<UInt8>, at offset: Int, _ count: Int) -> UInt32 {
    var pixel = UInt32(bytes[offset]) | UInt32(bytes[offset + 1]) << 8
    if count > 2 { pixel |= UInt32(bytes[offset + 2]) << 16 }
    if count > 3 { pixel |= UInt32(bytes[offset + 3]) << 24 }
    return pixel
  }

  /// Returns true if a pixel is not entirely transparent.
  private static func hasVisiblePixel(_ header: DIBHeader, _ bytes: Span<UInt8>, _ alpha: DIBChannel) -> Bool {
    let step = header.bitCount / 8
    for row in 0..<header.size.height {
      let start = header.pixelStart + row * header.rowBytes
      guard start + header.usedRowBytes <= bytes.count else { break }
      for column in 0..<header.size.width where alpha.value(pixel(bytes, at: start + column * step, step)) != 0 {
        return true
      }
    }
    return false
  }
}
