extension SourceFormat {
  /// AVIF, decoded by `thumbs-decode`.
  public static let avif = SourceFormat(rawValue: "avif", mediaType: "image/avif")
}

extension OutputFormat {
  /// AVIF, encoded by `thumbs-decode`. Part of ``all`` only if that program is installed.
  public static let avif = OutputFormat(rawValue: "avif", mediaType: "image/avif", fileExtension: "avif")
}
