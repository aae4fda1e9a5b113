/// What a source picture is, as far as its header tells.
public struct SourceImage: Hashable, Sendable {
  /// The size in pixels as a viewer shows it: after the EXIF orientation.
  public var size: PixelSize
  /// The file's format.
  public var format: ImageFormat

  /// A description from its parts.
  public init(size: PixelSize, format: ImageFormat) {
    self.size = size
    self.format = format
  }
}
