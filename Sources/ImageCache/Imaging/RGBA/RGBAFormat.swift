extension OutputFormat {
  /// Pixels instead of a file, for programs that show thumbnails without decoding them: red, green, blue and alpha of
  /// each pixel, 8 bits each, row after row from the top without gaps, in sRGB with straight alpha. Not in ``all``,
  /// which lists the formats of files.
  public static let rgba = OutputFormat(
    rawValue: "rgba", mediaType: "application/octet-stream", fileExtension: "rgba")
}
