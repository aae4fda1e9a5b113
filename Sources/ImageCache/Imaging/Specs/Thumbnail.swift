/// One finished thumbnail, encoded.
public struct Thumbnail: Hashable, Sendable {
  /// What was asked for.
  public var spec: ThumbnailSpec
  /// The real size in pixels, which `inside` and small sources make smaller than the box.
  public var size: PixelSize
  /// The format of ``bytes``.
  public var format: ImageFormat
  /// The whole file, without metadata; colours are sRGB.
  public var bytes: [UInt8]

  /// A thumbnail from its parts.
  public init(spec: ThumbnailSpec, size: PixelSize, format: ImageFormat, bytes: [UInt8]) {
    self.spec = spec
    self.size = size
    self.format = format
    self.bytes = bytes
  }
}
