extension SourceFormat {
  /// HEIF with HEVC, decoded by `thumbs-decode`.
  public static let heic = SourceFormat(rawValue: "heic", mediaType: "image/heic")
  /// JPEG XL (ISO/IEC 18181), decoded by `thumbs-decode`.
  public static let jpegXL = SourceFormat(rawValue: "jxl", mediaType: "image/jxl")
  /// SVG, also compressed, drawn by `thumbs-decode` at the size of the thumbnails.
  public static let svg = SourceFormat(rawValue: "svg", mediaType: "image/svg+xml")
  /// TIFF 6.0 and BigTIFF, decoded by `thumbs-decode`.
  public static let tiff = SourceFormat(rawValue: "tiff", mediaType: "image/tiff")
}
