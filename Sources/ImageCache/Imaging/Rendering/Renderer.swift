/// Renders the thumbnails of an image: one decode for any number of sizes.
///
/// ```swift
/// let renderer = Renderer()
/// let specs = [ThumbnailSpec(width: 256), ThumbnailSpec(width: 64, fit: .cover)]
/// let rendering = try renderer.render(bytes, specs: specs)
/// for thumbnail in rendering.thumbnails {
///   let name = "\(thumbnail.spec.label).\(thumbnail.format.fileExtension)"
///   try Data(thumbnail.bytes).write(to: directory.appending(path: name))
/// }
/// ```
public struct Renderer: Sendable {
  /// The version of the rendered output. Rises whenever the same bytes and spec would give a different file. Part of
  /// every cache key.
  public static let version = 5

  /// The maximum number of pixels a source may declare. Default 100 million.
  public var maxPixels: Int

  /// The minimum number of pixels a source may declare. Default 0.
  public var minPixels = 0

  /// The maximum number of pixels of a thumbnail that can be larger than its source: padded or enlarged. Also of the
  /// scaled image from which a crop is chosen by ``Gravity/smart``. Default 67,108,864, which is 8192 by 8192.
  public var maxOutputPixels = 1 << 26

  /// The least flaw of a file that makes ``render(_:specs:)`` fail. Default ``FailLevel/error``.
  public var failLevel = FailLevel.error

  /// Shared by all copies of this renderer.
  let memory: MemoryGate
  /// Shared by all copies of this renderer.
  let caches: RenderingCaches

  /// The limits on the header of a source.
  var limits: DecodingLimits { DecodingLimits(maxPixels: maxPixels) }

  /// Creates a renderer.
  ///
  /// - Parameters:
  ///   - maxPixels: The maximum number of pixels a source may declare. Default 100 million.
  ///   - maxMemory: The approximate number of bytes of pixels and coefficients that all threads together may hold at
  ///     once. An image that needs more is rendered while no other is. Default 64 MiB, for two threads.
  ///   - inks: The profile of CMYK images that have none. Default: none; inks are assumed to be ideal.
  ///   - isolation: The settings for formats that another process decodes.
  public init(
    maxPixels: Int = 100_000_000, maxMemory: Int = 64 << 20, inks: InkProfile? = nil,
    isolation: DecoderIsolation = DecoderIsolation()
  ) {
    self.maxPixels = maxPixels
    caches = RenderingCaches(inks: inks, isolation: isolation)
    memory = MemoryGate(limit: maxMemory)
  }

  /// Throws `badSpec` if ``render(_:specs:)`` would refuse a spec for every image: if a side of the box in pixels is
  /// not 1 to ``ThumbnailSpec/largestSide``, the scale is not 1 to 8, the quality is not 1 to 100, or a padded or
  /// enlarged thumbnail would have more than ``maxOutputPixels``. It also throws `badSpec` for AVIF if
  /// `thumbs-decode` is not installed.
  public func check(_ specs: [ThumbnailSpec]) throws(ImageError) {
    for spec in specs {
      try spec.check(maxOutputPixels: maxOutputPixels)
      if spec.format == .avif { try AVIFEncoder.check(caches.encoders) }
    }
  }

  /// The thumbnails of one image.
  public struct Rendering: Sendable {
    /// The source as its header describes it.
    public var source: SourceImage
    /// One thumbnail per spec, in the order of the specs.
    public var thumbnails: [Thumbnail]
    /// Flaws of the file, each a short sentence. They are harmless unless ``isDamaged``.
    public var warnings: [String]
    /// True if image data is missing or corrupt, which ``Renderer/failLevel`` tolerates. Do not cache the thumbnails:
    /// another transfer may give a whole file.
    public var isDamaged = false
  }
}
