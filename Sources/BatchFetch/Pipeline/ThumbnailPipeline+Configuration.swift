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
    /// Decodes at once. Default: one a processor.
    public var renderThreads = ProcessInfo.processInfo.activeProcessorCount
    /// The most pixels a picture may have. Default 100 million.
    public var maxPixels = 100_000_000
    /// How many bytes may be downloaded and not yet rendered before no further transfer starts. Default 64 MiB.
    public var maxBytesInHand = 64 << 20
    /// Whether addresses of the scheme `file` are read. Default ``FileAccess/refused``.
    public var files = FileAccess.refused

    /// The defaults.
    public init() {}

    /// The defaults, with the cache in `cacheDirectory`; nil keeps everything in memory only.
    public init(cacheDirectory: String?) {
      cache.directory = cacheDirectory
    }
  }

  /// Whether local files are sources. They must not be where a list of addresses comes from somebody else.
  public enum FileAccess: Hashable, Sendable {
    /// `blocked_scheme`.
    case refused
    /// Read as they are.
    case allowed

    /// Throws `blocked_scheme` where `source` is a local file and none may be read.
    public func check(_ source: SourceURL) throws(FetchFailure) {
      guard source.scheme != .file || self == .allowed else {
        throw FetchFailure(.blockedScheme, "Local files are not read.")
      }
    }
  }
}
