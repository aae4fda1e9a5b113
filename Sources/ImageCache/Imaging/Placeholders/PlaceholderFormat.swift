extension OutputFormat {
  /// A ``Placeholder`` instead of a file; see ``Thumbnail/placeholder``. Not in ``all``, which lists the formats of
  /// files.
  public static let placeholder = OutputFormat(
    rawValue: "placeholder", mediaType: "application/octet-stream", fileExtension: "placeholder")
}

extension ThumbnailSpec {
  /// The ``Placeholder`` of an image, which is rendered, cached and shared like a thumbnail.
  public static let placeholder = ThumbnailSpec(width: ThumbHash.longestSide, format: .placeholder)
}
