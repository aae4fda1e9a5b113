/// One rendered and encoded thumbnail.
public struct Thumbnail: Hashable, Sendable {
  /// The requested spec.
  public var spec: ThumbnailSpec
  /// The actual size in pixels. Smaller than the box for `inside` and for small sources.
  public var size: PixelSize
  /// The format of ``bytes``.
  public var format: OutputFormat
  /// The whole file, in sRGB, without metadata; the pixels if the format is ``OutputFormat/rgba``;
  /// for ``OutputFormat/placeholder``, a record from which ``placeholder`` is read.
  public var bytes: [UInt8]

  /// Creates a thumbnail.
  public init(spec: ThumbnailSpec, size: PixelSize, format: OutputFormat, bytes: [UInt8]) {
    self.spec = spec
    self.size = size
    self.format = format
    self.bytes = bytes
  }
}
