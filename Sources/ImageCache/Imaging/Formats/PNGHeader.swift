/// The header of a PNG file.
struct PNGHeader: Sendable {
  /// The properties that every format has.
  var image: ImageHeader
  /// True if the file has an ICC profile, which is compressed.
  var hasProfile = false
  /// True if the pixels are stored in seven passes.
  var isInterlaced = false
  /// True if the file declares that its colors are sRGB.
  var isSRGB = false
  /// The gamma that the file declares; nil if it declares none, or one that no real file has.
  var storedGamma: Double?

  /// The chromaticities that the file declares, with the curve of sRGB.
  var chromaticities: ColorEncoding?
  /// The encoding that the file declares by code points.
  var codePoints: ColorEncoding?

  /// The colors of a file with neither code points nor a profile; nil if they are those of sRGB, but perhaps with
  /// another gamma (PNG Specification, third edition, section 4.3).
  var encoding: ColorEncoding? {
    guard !isSRGB, var encoding = chromaticities, !encoding.hasColorsOfSRGB, !image.layout.isGray else { return nil }
    if let storedGamma { encoding.curve = .power(1 / storedGamma) }
    return encoding
  }

  /// The gamma of the samples; nil if they are sRGB.
  var gamma: Double? { isSRGB ? nil : storedGamma }
}

/// Walks the chunks of a PNG file up to its image data (PNG Specification, sections 5 and 11).
struct PNGHeaderReader {
  let limits: DecodingLimits

  /// Returns the number of bytes by which the header is later than usual: in the files of iOS packages, the chunk
  /// `CgBI` precedes it.
  private static func delay(of bytes: Span<UInt8>) -> Int {
    bytes.has("CgBI", at: 12) && bytes.uint32(at: 8) == 4 && bytes.count >= 24 ? 16 : 0
  }

  /// Reads the header. Returns nil if `bytes` end before the image data begins.
  func read(_ file: Span<UInt8>) throws(ImageError) -> PNGHeader? {
    let bytes = file.extracting(Self.delay(of: file)...)
    guard bytes.count >= 33 else { return nil }
    guard bytes.has("IHDR", at: 12), bytes.uint32(at: 8) == 13 else {
      throw ImageError(.decodeError, "The PNG file does not begin with a header chunk.")
    }
    var header = try readHeader(bytes.extracting(16..<29))
    var offset = 33
    for _ in 0..<DecodingLimits.maxSegments {
      guard let length = bytes.uint32(at: offset), offset + 8 <= bytes.count else { return nil }
      guard length <= Int(Int32.max) else {
        throw ImageError(.decodeError, "A chunk of the PNG file has an invalid length.")
      }
      if bytes.has("IDAT", at: offset + 4) { return header }
      if bytes.has("IEND", at: offset + 4) {
        throw ImageError(.decodeError, "The PNG file ends without image data.")
      }
      let end = offset + 8 + length
      guard end <= bytes.count else { return nil }
      readChunk(bytes.extracting(offset + 4..<end), into: &header)
      offset = end + 4
    }
    throw ImageError(.decodeLimit, "The PNG file has too many chunks before its image data.")
  }

  /// Reads the `eXIf` chunk after the image data, if there is one. The decoder reports any damage there.
  static func readTrailer(_ file: Span<UInt8>, into header: inout PNGHeader) {
    let bytes = file.extracting(delay(of: file)...)
    var offset = 33
    var isBehind = false
    while let length = bytes.uint32(at: offset), offset + 12 + length <= bytes.count {
      isBehind = isBehind || bytes.has("IDAT", at: offset + 4)
      if isBehind && bytes.has("eXIf", at: offset + 4) {
        // A file has at most one (section 5.6).
        return header.image.readOrientation(exif: bytes.extracting(offset + 8..<offset + 8 + length))
      }
      offset += 12 + length
    }
  }

  private func readHeader(_ content: Span<UInt8>) throws(ImageError) -> PNGHeader {
    let size = PixelSize(width: content.uint32(at: 0) ?? 0, height: content.uint32(at: 4) ?? 0)
    let (depth, colorType) = (content[8], content[9])
    guard let layout = layout(colorType, depth: depth), content[10] == 0, content[11] == 0, content[12] <= 1 else {
      throw ImageError(.decodeError, "The PNG file's header is invalid (color type \(colorType), \(depth) bits).")
    }
    try limits.check(size)
    var header = PNGHeader(image: ImageHeader(format: .png, storedSize: size, layout: layout))
    header.isInterlaced = content[12] == 1
    return header
  }

  /// Returns the layout for an allowed combination of color type and bit depth (table 12 of the specification); nil for
  /// any other.
  private func layout(_ colorType: UInt8, depth: UInt8) -> PixelLayout? {
    switch (colorType, depth) {
    case (0, 1), (0, 2), (0, 4), (0, 8), (0, 16): .gray
    case (2, 8), (2, 16), (3, 1), (3, 2), (3, 4), (3, 8): .rgb
    case (4, 8), (4, 16): .grayAlpha
    case (6, 8), (6, 16): .rgba
    default: nil
    }
  }

  /// Reads one chunk, given as its type followed by its data.
  private func readChunk(_ chunk: Span<UInt8>, into header: inout PNGHeader) {
    if chunk.has("tRNS", at: 0) {
      header.image.layout = header.image.layout.withAlpha
    } else if chunk.has("eXIf", at: 0) {
      header.image.readOrientation(exif: chunk.extracting(4...))
    } else if chunk.has("iCCP", at: 0) {
      header.hasProfile = true
    } else if chunk.has("sRGB", at: 0) {
      header.isSRGB = true
    } else if chunk.has("cHRM", at: 0), chunk.count >= 36 {
      header.readChromaticities(chunk)
    } else if chunk.has("cICP", at: 0), chunk.count >= 8 {
      header.readCodePoints(chunk)
    } else if chunk.has("gAMA", at: 0), let value = chunk.uint32(at: 4) {
      let gamma = Double(value) / 100_000
      if (0.1...10).contains(gamma) { header.storedGamma = gamma }
    }
  }
}

extension PNGHeader {
  /// Reads the chunk `cHRM` (section 11.3.2.1).
  fileprivate mutating func readChromaticities(_ chunk: Span<UInt8>) {
    let points = stride(from: 4, to: 36, by: 8).map { offset in
      ColorEncoding.Chromaticity(
        x: Double(chunk.uint32(at: offset) ?? 0) / 100_000, y: Double(chunk.uint32(at: offset + 4) ?? 0) / 100_000)
    }
    let encoding = ColorEncoding(white: points[0], red: points[1], green: points[2], blue: points[3])
    if encoding.isPossible {
      chromaticities = encoding
    } else {
      image.warnings.append("cHRM ignored: its colors are impossible")
    }
  }

  /// Reads the chunk `cICP` (section 11.3.2.6). Samples must be RGB, not YCbCr, and of full range.
  fileprivate mutating func readCodePoints(_ chunk: Span<UInt8>) {
    let (primaries, transfer) = (chunk[4], chunk[5])
    if chunk[6] == 0, chunk[7] == 1, let encoding = ColorEncoding(primaries: primaries, transfer: transfer) {
      codePoints = encoding
    } else {
      image.warnings.append("cICP ignored: its code points are not supported")
    }
  }
}
