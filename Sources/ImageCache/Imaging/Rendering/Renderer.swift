/// Turns the bytes of a picture into thumbnails: one decode, any number of sizes.
public struct Renderer: Sendable {
  /// Rises whenever the same bytes and spec would give other pixels. Part of every cache key.
  public static let version = 3

  /// The most pixels a header may declare. Default 100 million.
  public var maxPixels: Int

  /// Shared by all copies of this renderer.
  let memory: MemoryGate
  /// Shared by all copies of this renderer.
  let caches = RenderingCaches()

  /// A renderer that refuses pictures of more than `maxPixels`, and holds at most about `maxMemory` bytes of pixels and
  /// coefficients at once over all threads. A picture that needs more than that is rendered alone. Default 512 MiB.
  public init(maxPixels: Int = 100_000_000, maxMemory: Int = 512 << 20) {
    self.maxPixels = maxPixels
    memory = MemoryGate(limit: maxMemory)
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
