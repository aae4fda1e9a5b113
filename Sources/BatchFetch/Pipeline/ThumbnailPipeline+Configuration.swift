internal import Foundation
public import ImageCache

extension ThumbnailPipeline {
  /// How a pipeline behaves.
  public struct Configuration: Sendable {
    /// Transfers, retries, deadlines, header fields.
    public var downloads = Downloader.Configuration()
    /// Where the cache is, and how large it may get. Default: the standard directory.
    public var cache = ThumbnailCache.Configuration(directory: CacheLocation.standard())
    /// How far the cache is believed. Default ``CacheMode/normal``.
    public var cacheMode = CacheMode.normal
    /// Decodes at once, 1...1024; what is outside counts as the nearest end. Default: one a processor.
    public var renderThreads = ProcessInfo.processInfo.activeProcessorCount
    /// The most pixels a picture may have; below 1, every picture has too many. Default 100 million.
    public var maxPixels = 100_000_000
    /// Bytes that may wait in memory to be rendered, downloaded or read from the cache. Above, no further transfer starts
    /// and no further file is read. Below 0 counts as 0: one at a time. Default 64 MiB.
    public var maxBytesInHand = 64 << 20
    /// Whether addresses of the scheme `file` are read; takes the place of that of ``downloads``. Default
    /// ``FileAccess/refused``.
    public var files = FileAccess.refused

    static let threads = 1...1024

    /// The defaults.
    public init() {}

    /// The defaults, with the cache in `cacheDirectory`; nil keeps everything in memory only.
    public init(cacheDirectory: String?) {
      cache.directory = cacheDirectory
    }
  }

  /// The name that ``BatchFetch/FileAccess`` had first.
  public typealias FileAccess = BatchFetch.FileAccess
}
