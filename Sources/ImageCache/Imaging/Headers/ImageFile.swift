/// An image file with its header read by the decoder of its format.
struct ImageFile: Sendable {
  /// The offset of the file in the bytes. Not 0 if a server sent garbage before it.
  let start: Int
  /// The decoder, which holds the header.
  var decoder: any ImageDecoder

  /// Harmless oddities of the header and of the bytes before it.
  var warnings: [String] {
    (start > 0 ? ["ignored \(start) bytes before the image"] : []) + decoder.header.warnings
  }

  /// Reads the header of the file that begins with `prefix`. Returns nil if more bytes are needed.
  init?(prefix: Span<UInt8>, isWhole: Bool = false, limits: DecodingLimits) throws(ImageError) {
    // The header of a file for another process is read when the file is complete.
    guard case .decodable(let format, let start) = try FileRecognition(prefix) else { return nil }
    let bytes = prefix.extracting(start...)
    let read = try isWhole ? format.init(whole: bytes, limits: limits) : format.init(prefix: bytes, limits: limits)
    guard let decoder = read else { return nil }
    self.start = start
    self.decoder = decoder
  }

  /// Reads the header of a whole file, and the metadata after its image data. Blocks if another process has to do it.
  /// `page` is that of a document, from 1.
  init(
    _ bytes: Span<UInt8>, page: Int = 1, limits: DecodingLimits, decoders: DecoderPools
  ) throws(ImageError) {
    if case .isolated(let format) = try FileRecognition(bytes) {
      (start, decoder) = (0, try IsolatedDecoder(bytes, format, page: page, limits: limits, pool: decoders[format]))
      return
    }
    guard var file = try ImageFile(prefix: bytes, isWhole: true, limits: limits) else {
      if case .undecided = try FileRecognition(bytes) { throw TextContent.description(of: bytes) }
      throw ImageError(.truncated, "The file ends before its image data begins.")
    }
    file.decoder.readTrailer(bytes.extracting(file.start...))
    self = file
  }

  /// Decodes the file in `bytes`, those that its header was read from, into `sink`. Appends to `warnings`.
  func decode(
    _ bytes: Span<UInt8>, colors: ColorTransformCache, into sink: some RowSink, warnings: inout [String]
  ) throws(ImageError) {
    try decoder.decode(bytes.extracting(start...), colors: colors, into: sink, warnings: &warnings)
  }
}

/// The properties that the header of a file declares, whatever its format.
struct ImageHeader: Sendable {
  /// The format of the file.
  var format: SourceFormat
  /// The size as stored, before the orientation is applied.
  var storedSize: PixelSize
  /// The layout of the decoded pixels.
  var layout: PixelLayout
  /// The transform from the stored to the displayed image.
  var orientation = Orientation.upright
  /// Harmless oddities.
  var warnings: [String] = []
  /// True once a block of EXIF was read. Of several, the first counts, as in other programs.
  private var hasEXIF = false

  init(
    format: SourceFormat, storedSize: PixelSize, layout: PixelLayout, orientation: Orientation = .upright,
    warnings: [String] = []
  ) {
    (self.format, self.storedSize, self.layout) = (format, storedSize, layout)
    (self.orientation, self.warnings) = (orientation, warnings)
  }

  /// The description of the source for callers.
  var source: SourceImage { SourceImage(size: orientation.applied(to: storedSize), format: format) }

  /// Reads the orientation from an EXIF block, or adds a warning if the block is malformed.
  mutating func readOrientation(exif block: Span<UInt8>) {
    guard !hasEXIF else { return }
    do throws(Orientation.BadEXIF) {
      orientation = try Orientation(exif: block) ?? orientation
      hasEXIF = true
    } catch {
      // A file with thousands of malformed blocks gets one warning.
      let warning = "EXIF ignored: \(error.reason)"
      if !warnings.contains(warning) { warnings.append(warning) }
    }
  }
}

/// The byte order of an integer.
enum ByteOrder {
  case big, little

  /// Reads the first bytes of a TIFF structure; nil for others.
  init?(tiff bytes: Span<UInt8>) {
    if bytes.has("II", at: 0) {
      self = .little
    } else if bytes.has("MM", at: 0) {
      self = .big
    } else {
      return nil
    }
  }
}

extension Span where Element == UInt8 {
  /// Returns the 16-bit integer at `offset`, or nil if it is not entirely within the bytes.
  func uint16(at offset: Int, _ order: ByteOrder = .big) -> Int? {
    guard offset >= 0, offset <= count - 2 else { return nil }
    let (first, second) = (Int(self[offset]), Int(self[offset + 1]))
    return order == .big ? first << 8 | second : second << 8 | first
  }

  /// Returns the 32-bit integer at `offset`, or nil if it is not entirely within the bytes.
  func uint32(at offset: Int, _ order: ByteOrder = .big) -> Int? {
    guard let first = uint16(at: offset, order), let second = uint16(at: offset + 2, order) else { return nil }
    return order == .big ? first << 16 | second : second << 16 | first
  }

  /// Returns true if the bytes at `offset` are those of `text`, which is ASCII.
  func has(_ text: StaticString, at offset: Int) -> Bool {
    guard offset >= 0, offset <= count - text.utf8CodeUnitCount else { return false }
    for index in 0..<text.utf8CodeUnitCount where self[offset + index] != text.utf8Start[index] { return false }
    return true
  }
}
