/// Recognizes the files of one format, and reads their headers in this process.
protocol FileDecoder: ImageDecoder {
  /// The format of the files.
  static var format: SourceFormat { get }

  /// The signatures by which the files are recognized.
  static var signatures: [FileSignature] { get }

  /// Returns the offset of a file that follows garbage, such as a warning that a script printed. Its signature must lie
  /// entirely in `window`. The default is nil: garbage before the file is not tolerated.
  static func start(afterGarbageIn window: Span<UInt8>) -> Int?

  /// Reads the header of the file that begins with `prefix`. Returns nil if more bytes are needed. Decodes nothing and
  /// allocates no memory for pixels.
  ///
  /// Throws `unsupportedFormat`, `tooManyPixels`, `decodeError` or `decodeLimit` as soon as it is certain that the file
  /// cannot be decoded.
  init?(prefix: Span<UInt8>, limits: DecodingLimits) throws(ImageError)
}

extension FileDecoder {
  static func start(afterGarbageIn window: Span<UInt8>) -> Int? { nil }
}
