extension SourceFormat {
  /// WebP (RFC 9649). Part of ``all`` only with the package trait `WebP`, which is on by default.
  public static let webp = SourceFormat(rawValue: "webp", mediaType: "image/webp")
}

extension OutputFormat {
  /// WebP (RFC 9649). Part of ``all`` only with the package trait `WebP`, which is on by default.
  public static let webp = OutputFormat(rawValue: "webp", mediaType: "image/webp", fileExtension: "webp")
}

#if WebP
  extension WebPDecoder {
    static let format = SourceFormat.webp

    static let signatures = [
      FileSignature(FileSignature.ascii("RIFF") + FileSignature.any(4) + FileSignature.ascii("WEBP"))
    ]
  }
#endif
