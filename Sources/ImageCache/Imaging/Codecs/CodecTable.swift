/// The table of the codecs, each of which has its folder in `Imaging`.
enum CodecTable {
  /// The decoders in this process. A file belongs to the first one that has a matching signature. The media types in
  /// ``SourceFormat/accept`` have the same order.
  static let decoders: [any FileDecoder.Type] =
    optionalDecoders + [JPEGDecoder.self, PNGDecoder.self, GIFDecoder.self, BMPDecoder.self, ICODecoder.self]

  /// The encoders in this process.
  static let encoders: [any ImageEncoder.Type] = [JPEGEncoder.self, PNGEncoder.self] + optionalEncoders

  /// The formats of files.
  static let files: [any MarkedFormat.Type] = encoders + [AVIFEncoder.self]

  #if WebP
    private static let optionalDecoders: [any FileDecoder.Type] = [WebPDecoder.self]
    private static let optionalEncoders: [any ImageEncoder.Type] = [WebPEncoder.self]
  #else
    private static let optionalDecoders: [any FileDecoder.Type] = []
    private static let optionalEncoders: [any ImageEncoder.Type] = []
  #endif
}

extension ThumbnailSpec.Format {
  /// The encoder of the files in this process. nil for ``auto``, because each decoder chooses the encoder for its file,
  /// for ``smallest``, for ``avif``, for ``rgba`` and ``placeholder``, which are no files, and for a format that this
  /// build lacks.
  var encoder: (any ImageEncoder.Type)? { CodecTable.encoders.first { $0.format.rawValue == rawValue } }

  /// The package trait that this build would need for the format; nil if it can write the format.
  var missingTrait: String? {
    #if WebP
      nil
    #else
      self == .webp || self == .smallest ? "WebP" : nil
    #endif
  }
}
