/// Turns the bytes of a picture into thumbnails: one decode, any number of sizes.
public struct Renderer: Sendable {
  /// Rises whenever the same bytes and spec would give another file. Part of every cache key.
  public static let version = 3

  /// The most pixels a header may declare. Default 100 million.
  public var maxPixels: Int

  /// The most pixels of a thumbnail that can be larger than its source: padded, or allowed to grow. Default 67,108,864,
  /// which is 8192 by 8192.
  public var maxOutputPixels = 1 << 26

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

  /// Throws `badSpec` for specs that ``render(_:specs:)`` refuses, whatever the image: a side after scaling that is not 1
  /// to ``ThumbnailSpec/largestSide``, a scale that is not 1 to 8, a quality that is not 1 to 100, or more than
  /// ``maxOutputPixels``.
  public func check(_ specs: [ThumbnailSpec]) throws(ImageError) {
    for spec in specs { try spec.check(maxOutputPixels: maxOutputPixels) }
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
