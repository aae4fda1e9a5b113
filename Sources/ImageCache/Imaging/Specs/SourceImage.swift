/// The properties of a source image that its header declares.
public struct SourceImage: Hashable, Sendable {
  /// The size in pixels as displayed, with the EXIF orientation applied.
  public var size: PixelSize
  /// The format of the file.
  public var format: SourceFormat

  /// Creates a description of a source image.
  public init(size: PixelSize, format: SourceFormat) {
    self.size = size
    self.format = format
  }
}
