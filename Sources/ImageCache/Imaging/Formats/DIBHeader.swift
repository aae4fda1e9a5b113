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

/// The fields of the header of a device-independent bitmap, whatever its version. Those that the version does not have
/// are 0.
struct DIBFields {
  /// The lengths of all versions of the header: those of Windows, and those of OS/2, which may end after any field.
  static let lengths: [Int] = [12, 42, 46, 108, 124] + stride(from: 16, through: 64, by: 4)

  private let bytes: [UInt8]

  /// Reads the header at `start`. Returns nil if `file` ends before the header. Throws `decodeError` if no version has
  /// its length.
  init?(_ file: Span<UInt8>, at start: Int) throws(ImageError) {
    guard let length = file.uint32(at: start, .little) else { return nil }
    guard Self.lengths.contains(length) else {
      throw ImageError(.decodeError, "The bitmap's header has an invalid length (\(length)).")
    }
    guard start + length <= file.count else { return nil }
    bytes = (start..<start + length).map { file[$0] }
  }

  var length: Int { bytes.count }
  /// True for the first version, whose fields have 16 bits.
  var isCore: Bool { length == 12 }
  /// True for the versions of OS/2, which number their ways of compression differently.
  var isOS2: Bool { ![40, 52, 56, 108, 124].contains(length) }

  var width: Int { isCore ? uint16(4) : signed(4) }
  /// Negative if the first row is at the top.
  var height: Int { isCore ? uint16(6) : signed(8) }
  var bitCount: Int { uint16(isCore ? 10 : 14) }
  var compression: Int { uint32(16) }
  /// The number of colors in the palette; 0 if there are as many as the bits allow.
  var colorCount: Int { uint32(32) }
  /// The four masks, if the version has them.
  var masks: DIBMasks? {
    guard !isOS2, length >= 52 else { return nil }
    return DIBMasks(red: mask(40), green: mask(44), blue: mask(48), alpha: mask(52))
  }
  /// The location of the embedded ICC profile from the start of the header; nil if there is none.
  var profile: Range<Int>? {
    // "MBED", as an integer.
    guard length == 124, uint32(56) == 0x4D42_4544 else { return nil }
    return uint32(112)..<uint32(112) + uint32(116)
  }

  private func uint16(_ offset: Int) -> Int { bytes.span.uint16(at: offset, .little) ?? 0 }
  private func uint32(_ offset: Int) -> Int { bytes.span.uint32(at: offset, .little) ?? 0 }
  private func mask(_ offset: Int) -> UInt32 { UInt32(uint32(offset)) }
  private func signed(_ offset: Int) -> Int { Int(Int32(truncatingIfNeeded: uint32(offset))) }
}

/// The bits of each channel in a pixel. A channel without bits is 0, and alpha without bits means opaque pixels.
struct DIBMasks: Hashable, Sendable {
  var red, green, blue: UInt32
  var alpha: UInt32 = 0

  static let none = DIBMasks(red: 0, green: 0, blue: 0)

  /// The masks of a bitmap that does not define any.
  static func standard(bitCount: Int) -> DIBMasks {
    switch bitCount {
    case 16: DIBMasks(red: 0x7C00, green: 0x3E0, blue: 0x1F)
    case 24, 32: DIBMasks(red: 0xFF_0000, green: 0xFF00, blue: 0xFF)
    default: none
    }
  }

  private var all: [UInt32] { [red, green, blue, alpha] }

  /// True if the bits of each channel are contiguous, and no two channels share a bit.
  var areValid: Bool {
    var used: UInt32 = 0
    for mask in all {
      let bits = mask >> (mask == 0 ? 0 : mask.trailingZeroBitCount)
      guard bits & (bits &+ 1) == 0, used & mask == 0 else { return false }
      used |= mask
    }
    return true
  }

  /// Returns the masks without the bits that pixels of `bitCount` bits do not have.
  func limited(to bitCount: Int) -> DIBMasks {
    let bits: UInt32 = bitCount < 32 ? 1 << UInt32(bitCount) - 1 : .max
    return DIBMasks(red: red & bits, green: green & bits, blue: blue & bits, alpha: alpha & bits)
  }
}

/// Extracts one channel of a pixel as 8 bits.
struct DIBChannel: Sendable {
  private let shift: UInt32
  private let limit: UInt32
  private let values: [UInt8]

  /// Creates a channel with these contiguous bits. `missing` is its value if there are none. Of more than 8 bits, the
  /// lowest are dropped; fewer bits are scaled to 0...255 and rounded to the nearest value.
  init(_ mask: UInt32, missing: UInt8 = 0) {
    let count = mask.nonzeroBitCount
    shift = mask == 0 ? 0 : UInt32(mask.trailingZeroBitCount + max(0, count - 8))
    let limit: UInt32 = 1 << UInt32(min(8, count)) - 1
    self.limit = limit
    values = (0...limit).map { limit == 0 ? missing : UInt8(($0 * 510 + limit) / (2 * limit)) }
  }

  @inline(__always)
  func value(_ pixel: UInt32) -> UInt8 { values[Int(pixel >> shift & limit)] }
}

/// The transparent pixels of a bitmap in an icon.
struct DIBTransparency {
  private let start: Int
  private let width: Int
  private let rowBytes: Int

  /// The end of the bits in the file.
  let end: Int

  /// Locates the bits after the pixels.
  init(_ header: DIBHeader) {
    (start, width) = (header.pixelEnd, header.size.width)
    rowBytes = (width + 31) / 32 * 4
    end = start + rowBytes * (header.size.height - 1) + (width + 7) / 8
  }

  /// Makes pixels of a stored row transparent. Each has four samples, from the offset `target` on. A row whose bits are
  /// not in the file stays opaque.
  func apply(_ row: Int, from bytes: Span<UInt8>, to samples: inout MutableSpan<UInt8>, at target: Int) {
    let first = start + row * rowBytes
    guard first + (width + 7) / 8 <= bytes.count else { return }
    for column in 0..<width where bytes[first + column >> 3] << UInt8(column & 7) & 0x80 != 0 {
      samples.set(.transparent, at: target + 4 * column, channels: 4)
    }
  }
}
