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

  extension WebPEncoder {
    /// The end of the last chunk, which must be that of the RIFF header (RFC 9649, section 2.4).
    static func end(of file: Span<UInt8>) -> Int? {
      guard let size = file.uint32(at: 4, .little), 8 + size <= file.count else { return nil }
      var offset = 12
      while offset < 8 + size, let length = file.uint32(at: offset + 4, .little) { offset += 8 + length + length % 2 }
      return offset == 8 + size ? offset : nil
    }
  }
#endif
