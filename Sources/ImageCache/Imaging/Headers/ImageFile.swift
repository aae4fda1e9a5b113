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
  init?(prefix: Span<UInt8>, limits: DecodingLimits) throws(ImageError) {
    // The header of a file for another process is read when the file is complete.
    guard case .decodable(let format, let start) = try FileRecognition(prefix),
      let decoder = try format.init(prefix: prefix.extracting(start...), limits: limits)
    else { return nil }
    self.start = start
    self.decoder = decoder
  }

  /// Reads the header of a whole file, and the metadata after its image data. Blocks if another process has to do it.
  init(_ bytes: Span<UInt8>, limits: DecodingLimits, decoders: DecoderPool) throws(ImageError) {
    if case .isolated(let format) = try FileRecognition(bytes) {
      (start, decoder) = (0, try IsolatedDecoder(bytes, format, limits: limits, pool: decoders))
      return
    }
    guard var file = try ImageFile(prefix: bytes, limits: limits) else {
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
