internal import Foundation
public import ImageCache

extension ThumbnailPipeline {
  /// The settings of a pipeline.
  public struct Configuration: Sendable {
    /// The settings of downloads: concurrency, retries, deadlines, header fields.
    public var downloads = Downloader.Configuration()
    /// The directory and the limits of the cache. Default: the standard directory.
    public var cache = ThumbnailCache.Configuration(directory: CacheLocation.standard())
    /// The cache on a server that several machines share, behind the other two. Not used while ``cacheMode`` is
    /// ``CacheMode/offline``. Default nil: none.
    public var remoteCache: RemoteCache?
    /// Decides when cached entries are served. Default ``CacheMode/normal``.
    public var cacheMode = CacheMode.normal
    /// The parameters in the query of a URL that are part of the key of its cache entry. If some are left out, the URLs
    /// of a request that differ only in these count as one image, which is not shared with other machines. Default
    /// ``CacheKeyQuery/all``.
    public var cacheKeyQuery = CacheKeyQuery.all
    /// The maximum number of simultaneous decodes: 1...1024; a value outside is clamped. Default: one per processor.
    /// While some of them take longer than 20 ms, up to as many images of other hosts are decoded at the same time.
    public var renderThreads = ProcessInfo.processInfo.activeProcessorCount
    /// The maximum number of pixels of an image; below 1, every image has too many. Default: 100 million.
    public var maxPixels = 100_000_000
    /// The rules for images besides that. Default: every image is accepted.
    public var content = ContentRules()
    /// The least flaw of a file that makes its image fail. Default `FailLevel.error`. Thumbnails of
    /// damaged files are not cached. Cached thumbnails are those of whole files and are served at any level.
    public var failLevel = FailLevel.error
    /// The profile of CMYK images that have none. Thumbnails made with different profiles have different
    /// cache entries. Default: none; inks are assumed to be ideal.
    public var inks: InkProfile?
    /// The page of PDF documents and of TIFF files, from 1; see ``RequestOptions/page``. Default 1.
    public var page = 1
    /// The settings for formats that `thumbs-decode` decodes.
    public var decoders = DecoderIsolation()
    /// The maximum number of bytes, downloaded or read from the cache, that wait in memory to be rendered. Above it, no
    /// transfer starts and no original is read. A value below 0 counts as 0: one image at a time. Default: 8 MiB per
    /// processor.
    public var maxBytesInHand = (8 << 20) * ProcessInfo.processInfo.activeProcessorCount
    /// Permission to read `file` URLs; overrides that of ``downloads``. Default ``FileAccess/refused``.
    public var files = FileAccess.refused

    /// Makes the threads of lookups and reads. Default: threads of the system's dispatch queues.
    var makeThreads: @Sendable (_ label: String, _ count: Int) -> WorkThreads = { .dispatched($0, count: $1) }

    static let threads = 1...1024

    /// The maximum number of bytes of pixels and coefficients: 32 MiB per decode, much more than most images need. One
    /// that needs more than all of it is decoded alone.
    var maxMemory: Int { (32 << 20) * renderThreads.clamped(to: Self.threads) }

    /// Returns the number of requests that keep all stages of a host busy: its downloads with as many waiting behind
    /// them, the lookups before them, and the renders after them. With the defaults and up to 18 processors, 24.
    func requests(of host: String) -> Int {
      let limit = downloads.hosts.rule(for: host).perHost ?? downloads.perHost
      let downloads = limit.clamped(to: Downloader.Configuration.counts)
      return max(4 * downloads, downloads + renderThreads.clamped(to: Self.threads))
    }

    /// Creates the default settings.
    public init() {}

    /// Creates the default settings, with the cache in `cacheDirectory`; nil keeps everything in memory only.
    public init(cacheDirectory: String?) {
      cache.directory = cacheDirectory
    }
  }
}
