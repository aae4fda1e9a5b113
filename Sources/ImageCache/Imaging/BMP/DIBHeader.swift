/// The header of a device-independent bitmap: of a BMP file, or of an image in an icon.
struct DIBHeader: Sendable {
  var size: PixelSize
  /// True if the first stored row is at the top.
  var isTopDown = false
  /// The number of bits per pixel: 1, 2, 4 or 8 for indices of a palette, otherwise 16, 24 or 32.
  var bitCount: Int
  /// True if the rows are stored as runs (RLE4 or RLE8).
  var isRunLength = false
  /// The bits of each channel in a pixel of 16 or more bits.
  var masks: DIBMasks
  var palette: DIBPalette
  /// The offset of the first stored row.
  var pixelStart: Int
  /// The location of the ICC profile.
  var profile: Range<Int>?

  /// The number of bytes per row, without padding.
  var usedRowBytes: Int { (size.width * bitCount + 7) / 8 }
  /// The number of bytes from one stored row to the next.
  var rowBytes: Int { (size.width * bitCount + 31) / 32 * 4 }
  /// The offset of the row after the last one.
  var pixelEnd: Int { pixelStart + size.height * rowBytes }

  /// Returns the number of the stored row that is shown in `row`, counted from the top.
  func storedRow(_ row: Int) -> Int { isTopDown ? row : size.height - 1 - row }

  static let truncated = ImageError(.truncated, "The bitmap ends before its last pixel.")
}

/// The location of the colors of a bitmap.
struct DIBPalette: Sendable {
  var start: Int
  /// The number of bytes per color: 3, or 4 with an unused one.
  var colorBytes: Int
  var count: Int

  /// Returns 256 colors: black after the end of the palette, as in browsers.
  func colors(_ bytes: Span<UInt8>) -> [PixelColor] {
    (0...255).map { index in
      let offset = start + index * colorBytes
      guard index < count, offset <= bytes.count - 3 else { return .black }
      return PixelColor(red: bytes[offset + 2], green: bytes[offset + 1], blue: bytes[offset])
    }
  }
}
