import ArgumentParser
import BatchFetch
import ImageCache

/// The options of the cache and of rendering.
struct CachingOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Cache directory. (default: $THUMBS_CACHE_DIR, else $XDG_CACHE_HOME/thumbs, else ~/.cache/thumbs)",
      valueName: "dir"),
    completion: .directory)
  var cacheDir: String?

  @Option(
    help: ArgumentHelp(
      "Maximum size of the disk cache, such as 500MiB. (default: the limit stored in the cache, else 2GiB)",
      discussion: "If a lower limit is stored in the cache, that one applies.", valueName: "size"),
    transform: { try ByteSize($0) })
  var cacheSize: ByteSize?

  @Flag(help: "Also cache the downloaded images, in up to a fifth of the cache, so that a new size needs no download.")
  var keepOriginals = false

  @Flag(help: "Neither read nor write the disk cache.")
  var noCache = false

  @Flag(
    help: ArgumentHelp(
      "Revalidate every cached image, even if it is fresh.",
      discussion: "Also requests URLs whose failure is remembered: a 404 for up to ten minutes."))
  var refresh = false

  @Flag(help: "Use cached images only, fresh or stale; send no requests.")
  var offline = false

  @Option(
    help: ArgumentHelp(
      "Names of the query parameters in the cache key, such as id,v; none ignores the query. (default: all)",
      discussion: "URLs that differ only in other parameters, such as signatures, count as one image.",
      valueName: "names"),
    transform: { try CacheKeyQuery(argument: $0) })
  var cacheKeyQuery: CacheKeyQuery?

  @Option(
    help: ArgumentHelp(
      "Maximum number of images to render at once. (default: number of processors)",
      discussion: "While some take longer than 20 ms, up to as many of other hosts are rendered at the same time.",
      valueName: "n"),
    transform: { try Count.positive($0) })
  var renderThreads: Int?

  @Option(
    help: ArgumentHelp("Largest image to decode, in pixels, such as 50M. (default: 100M)", valueName: "n"),
    transform: { try PixelCount($0) })
  var maxPixels = PixelCount(count: 100_000_000)

  @Option(
    help: ArgumentHelp(
      "Slightest flaw in a file that fails its row.",
      discussion: "With none, a damaged image is shown as far as its data goes, with a warning; it is not cached.",
      valueName: "flaw"))
  var failOn = FailLevel.error

  @Option(
    help: ArgumentHelp(
      "ICC profile of CMYK images that have none. (default: ideal inks, as in browsers)", valueName: "file.icc"),
    completion: .file(extensions: ["icc", "icm"]), transform: { try NamedProfile(contentsOf: $0) })
  var cmykProfile: NamedProfile?

  /// Rejects options that contradict each other.
  func validate() throws {
    if refresh, offline { throw ValidationError("--refresh and --offline cannot be used together.") }
    if noCache, offline { throw ValidationError("--offline needs the cache; it cannot be used with --no-cache.") }
  }

  /// The cache mode: offline, refresh, or else that of the command.
  func mode(otherwise mode: CacheMode) -> CacheMode {
    if offline { return .offline }
    return refresh ? .refresh : mode
  }

  /// The size of the memory cache in bytes. It serves rows that repeat an earlier row. These are rarely far apart, and
  /// the disk cache is not much slower.
  static let memoryByteLimit = 4 << 20

  /// The location and limits of the cache.
  var configuration: ThumbnailCache.Configuration {
    ThumbnailCache.Configuration(
      directory: noCache ? nil : cacheDir ?? CacheLocation.standard(), diskByteLimit: cacheSize?.count,
      originals: keepOriginals ? .standard : .none, memoryByteLimit: Self.memoryByteLimit)
  }
}
