/// The table of the codecs, each of which has its folder in `Imaging`.
enum CodecTable {
  /// The decoders. A file belongs to the first one that has a matching signature. The media types in
  /// ``SourceFormat/accept`` have the same order.
  static let decoders: [any ImageDecoder.Type] = [JPEGDecoder.self, PNGDecoder.self] + optionalDecoders

  #if WebP
    private static let optionalDecoders: [any ImageDecoder.Type] = [WebPDecoder.self]
  #else
    private static let optionalDecoders: [any ImageDecoder.Type] = []
  #endif

  /// The encoders.
  static let encoders = ThumbnailSpec.Format.allCases.compactMap(\.encoder)
}

extension ThumbnailSpec.Format {
  /// The encoder of the format; nil for ``auto``, because each decoder chooses the encoder for its file.
  var encoder: (any ImageEncoder.Type)? {
    switch self {
    case .auto: nil
    case .jpeg: JPEGEncoder.self
    case .png: PNGEncoder.self
    }
  }
}
