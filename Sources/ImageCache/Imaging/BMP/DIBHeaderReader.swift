/// Reads the header of a device-independent bitmap (Windows GDI, "Bitmap Header Types"; OS/2 Presentation Manager).
enum DIBHeaderReader {
  /// Reads the header at `start`, and finds the palette and the pixels. Returns nil if more bytes are needed.
  ///
  /// - Parameters:
  ///   - bytes: The bytes of the file or of the image in an icon, or the first of them.
  ///   - start: The offset of the header.
  ///   - pixelStart: The offset of the first row; nil if it follows the palette, as in an icon.
  static func read(_ bytes: Span<UInt8>, at start: Int, pixelStart: Int?) throws(ImageError) -> DIBHeader? {
    guard let fields = try DIBFields(bytes, at: start) else { return nil }
    let isMasked = try checkCompression(fields)
    guard fields.width > 0, fields.height != 0 else {
      throw ImageError(.decodeError, "The header declares an empty image (\(fields.width)x\(fields.height)).")
    }
    var end = start + fields.length
    var masks = DIBMasks.standard(bitCount: fields.bitCount)
    if isMasked {
      guard let found = fields.masks ?? readMasks(bytes, at: &end, hasAlpha: fields.compression == 6) else {
        return nil
      }
      masks = found.limited(to: fields.bitCount)
      guard masks.areValid else { throw ImageError(.decodeError, "The bitmap's masks are invalid.") }
    }
    if let pixelStart, pixelStart < end {
      throw ImageError(.decodeError, "The bitmap's pixels overlap its header.")
    }
    let palette = palette(fields, at: end, pixelStart: pixelStart)
    return DIBHeader(
      size: PixelSize(width: fields.width, height: abs(fields.height)), isTopDown: fields.height < 0,
      bitCount: fields.bitCount, isRunLength: [1, 2].contains(fields.compression), masks: masks, palette: palette,
      pixelStart: pixelStart ?? end + palette.count * palette.colorBytes,
      profile: fields.profile.map { start + $0.lowerBound..<start + $0.upperBound })
  }

  /// Throws if the pixels cannot be decoded. Returns true if the file defines the masks of the channels.
  private static func checkCompression(_ fields: DIBFields) throws(ImageError) -> Bool {
    switch (fields.compression, fields.bitCount) {
    case (0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 24), (0, 32): return false
    case (1, 8) where fields.height > 0, (2, 4) where fields.height > 0: return false
    case (3, 16) where !fields.isOS2, (3, 32) where !fields.isOS2: return true
    case (6, 16) where !fields.isOS2, (6, 32) where !fields.isOS2: return true
    case (4, 24): throw ImageError(.unsupportedFormat, "BMP with runs of 24 bits is not supported.")
    case (3, 1): throw ImageError(.unsupportedFormat, "BMP with Huffman coding is not supported.")
    case (4, _): throw ImageError(.unsupportedFormat, "BMP with an embedded JPEG is not supported.")
    case (5, _): throw ImageError(.unsupportedFormat, "BMP with an embedded PNG is not supported.")
    case (11..., _):
      throw ImageError(.unsupportedFormat, "BMP with compression \(fields.compression) is not supported.")
    default:
      throw ImageError(
        .decodeError, "The bitmap's header is invalid (\(fields.bitCount) bits, compression \(fields.compression)).")
    }
  }

  /// Reads the masks after a header that does not include them, and advances `offset`.
  private static func readMasks(_ bytes: Span<UInt8>, at offset: inout Int, hasAlpha: Bool) -> DIBMasks? {
    let start = offset
    offset += hasAlpha ? 16 : 12
    guard offset <= bytes.count else { return nil }
    let values = (0..<4).map { UInt32(bytes.uint32(at: start + 4 * $0, .little) ?? 0) }
    return DIBMasks(red: values[0], green: values[1], blue: values[2], alpha: hasAlpha ? values[3] : 0)
  }

  /// Locates the palette, which ends before the pixels even if it declares more colors.
  private static func palette(_ fields: DIBFields, at start: Int, pixelStart: Int?) -> DIBPalette {
    let colorBytes = fields.isCore ? 3 : 4
    guard fields.bitCount <= 8 else { return DIBPalette(start: start, colorBytes: colorBytes, count: 0) }
    let most = 1 << fields.bitCount
    let count = fields.colorCount == 0 ? most : min(fields.colorCount, most)
    let room = pixelStart.map { ($0 - start) / colorBytes } ?? most
    return DIBPalette(start: start, colorBytes: colorBytes, count: min(count, room))
  }
}
