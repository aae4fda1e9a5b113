extension SourceFormat {
  /// GIF (CompuServe, versions 87a and 89a).
  public static let gif = SourceFormat(rawValue: "gif", mediaType: "image/gif")
}

extension GIFDecoder {
  static let format = SourceFormat.gif

  static let signatures = [FileSignature(FileSignature.ascii("GIF87a")), FileSignature(FileSignature.ascii("GIF89a"))]
}
