import ArgumentParser
import BatchFetch
import ImageCache

/// What is kept, and how pictures are rendered.
struct CachingOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Directory of the cache. (default: $THUMBS_CACHE_DIR, else $XDG_CACHE_HOME/thumbs, else ~/.cache/thumbs)",
      valueName: "dir"),
    completion: .directory)
  var cacheDir: String?

  @Option(
    help: ArgumentHelp(
      "What the cache may take on disk, such as 500MiB. (default: the limit stored in it, else 2GiB)",
      valueName: "size"),
    transform: { try ByteSize($0) })
  var cacheSize: ByteSize?

  @Flag(help: "Keep the files themselves too, in a fifth of the cache: a new size then needs no download.")
  var keepOriginals = false

  @Flag(help: "Keep nothing on disk, and use nothing that is there.")
  var noCache = false

  @Flag(help: "Ask the servers about everything, fresh or not.")
  var refresh = false

  @Flag(help: "Use what the cache has, and ask no server.")
  var offline = false

  @Option(
    help: ArgumentHelp("Pictures rendered at once. (default: one a processor)", valueName: "n"),
    transform: { try Count.positive($0) })
  var renderThreads: Int?

  @Option(
    help: ArgumentHelp("The largest picture in pixels, such as 50M. (default: 100M)", valueName: "n"),
    transform: { try PixelCount($0) })
  var maxPixels = PixelCount(count: 100_000_000)

  /// Options that say opposite things exclude each other.
  func validate() throws {
    if refresh, offline { throw ValidationError("--refresh and --offline exclude each other; leave one out.") }
    if noCache, offline { throw ValidationError("--offline needs the cache; leave --no-cache out.") }
  }

  /// How far the cache is believed.
  var mode: CacheMode {
    if offline { return .offline }
    return refresh ? .refresh : .normal
  }

  /// What a run keeps in memory, in bytes, for rows that want the same again. They are rarely far apart, and the disk is
  /// not much slower.
  private static let memoryByteLimit = 4 << 20

  /// Where the cache is, and how large.
  var configuration: ThumbnailCache.Configuration {
    ThumbnailCache.Configuration(
      directory: noCache ? nil : cacheDir ?? CacheLocation.standard(), diskByteLimit: cacheSize?.count,
      originals: keepOriginals ? .standard : .none, memoryByteLimit: Self.memoryByteLimit)
  }
}
