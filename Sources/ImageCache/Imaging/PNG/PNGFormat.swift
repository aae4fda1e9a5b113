extension SourceFormat {
  /// PNG (W3C PNG Specification, Third Edition).
  public static let png = SourceFormat(rawValue: "png", mediaType: "image/png")
}

extension OutputFormat {
  /// PNG (W3C PNG Specification, Third Edition).
  public static let png = OutputFormat(rawValue: "png", mediaType: "image/png", fileExtension: "png")
}

extension PNGDecoder {
  static let format = SourceFormat.png

  static let signatures = [FileSignature([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])]
}

extension PNGEncoder {
  /// The end of the chunk `IEND` (PNG Specification, section 11.2.5).
  static func end(of file: Span<UInt8>) -> Int? {
    var offset = 8
    while let length = file.uint32(at: offset), length <= file.count - offset - 12 {
      let end = offset + 12 + length
      if file.has("IEND", at: offset + 4) { return end }
      offset = end
    }
    return nil
  }
}
