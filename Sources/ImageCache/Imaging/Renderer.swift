/// Turns the bytes of a picture into thumbnails: one decode, any number of sizes.
public struct Renderer: Sendable {
  /// Rises whenever the same bytes and spec would give other pixels. Part of every cache key.
  public static let version = 1

  /// The most pixels a header may declare. Default 100 million.
  public var maxPixels: Int

  /// A renderer that refuses pictures of more than `maxPixels`.
  public init(maxPixels: Int = 100_000_000) {
    self.maxPixels = maxPixels
  }

  /// The thumbnails of one picture.
  public struct Rendering: Sendable {
    /// The source as its header describes it.
    public var source: SourceImage
    /// One thumbnail a spec, in the order asked for.
    public var thumbnails: [Thumbnail]
    /// What was odd in the file and did no harm.
    public var warnings: [String]
  }
}
