public import Foundation
public import HTTPTypes
public import ImageCache

/// A request for the thumbnails of one image, in one or several sizes.
///
/// ```swift
/// var request = ThumbnailRequest(
///   url: "https://example.com/photo.jpg",
///   specs: [ThumbnailSpec(width: 64), ThumbnailSpec(width: 320, height: 180, fit: .cover)])
/// request.mirrors = ["https://mirror.example.com/photo.jpg"]
/// request.headerFields[.referer] = "https://example.com/"
/// request.priority = .high
/// ```
public struct ThumbnailRequest: Sendable {
  /// The URL of the image, as the caller wrote it. An invalid URL fails only this request, with `bad_url`.
  public var url: String {
    didSet { if url != oldValue { source = nil } }
  }
  /// Other URLs of the same image, tried in order until one succeeds. Default: none.
  public var mirrors: [String] = []
  /// Milestones that must be reached before the request starts. Until then it occupies no place in a queue, and the
  /// requests whose ends it waits for are at least as urgent as this one. Default: none.
  public var after: [Milestone] = []
  /// The thumbnails to make, in order. One download and one decode serve all of them.
  public var specs: [ThumbnailSpec]
  /// Additional header fields. Requests with different fields never share a download. A field that concerns message
  /// framing or the connection, such as `Content-Length`, `Transfer-Encoding` or `Connection`, fails the request with
  /// `bad_row`.
  public var headerFields: HTTPFields
  /// The URL of the page that shows the image, for the field `Referer` unless the request, the host or the
  /// configuration has it. Unlike other header fields, it is not a part of the key of the cache entry: requests that
  /// differ only in it share a download, which has the page of the first. Default nil: none.
  public var referer: String?
  /// The urgency of the request wherever it waits: to be looked up in the disk cache, downloaded and decoded. Can be
  /// changed later by ``ThumbnailToken/setPriority(_:)``. Default ``Priority/normal``.
  public var priority: Priority
  /// The SHA-256 digest of the file that is wanted. If the URL leads to other bytes, the request fails with
  /// `hash_mismatch`, and these bytes are neither decoded nor cached for it. Default nil: any file.
  public var digest: BodyDigest? {
    get { rareParts.digest }
    set { rareParts.digest = newValue }
  }
  /// The settings that differ from those of the pipeline. Default: none.
  public var options: RequestOptions {
    get { ownOptions ?? RequestOptions() }
    set { ownOptions = newValue == RequestOptions() ? nil : newValue }
  }
  /// The maximum time of the whole request, from the call on: milestones, queues, all attempts and mirrors, and
  /// rendering. After it, the request fails with `timeout_total`, and the work goes on only if other callers wait for
  /// it. From zero to 20 days; a value outside is clamped. Default nil: none.
  public var timeout: Duration? {
    get { rareParts.timeout }
    set { rareParts.timeout = newValue }
  }
  /// Stands for ``url`` in the key of the cache entry, for a URL whose text changes, such as a signed one. Requests
  /// with the same key are for the same image: they share one download, from the URL of the first, and one cache entry,
  /// which is not shared with other machines. Does not apply to ``mirrors``. Default nil: the URL itself, or what
  /// ``ThumbnailPipeline/Configuration/cacheKeyQuery`` keeps of it.
  public var cacheKey: String? {
    get { rareParts.cacheKey }
    set { rareParts.cacheKey = newValue }
  }
  /// Responses that this process received at or after this instant count as fresh. A batch sets it to its own start, so
  /// that it requests each source only once. Default nil: the freshness of the response decides.
  public var since: ContinuousClock.Instant?
  /// The options of the few requests that have any: thousands of requests may be parked.
  @Rare private var ownOptions: RequestOptions? = nil
  @Usual private var rareParts = RareParts()
  /// The canonical form of ``url``, if it was parsed already.
  @Rare private(set) var source: SourceURL? = nil

  private struct RareParts: HasUsualValue {
    var digest: BodyDigest?
    var timeout: Duration?
    var cacheKey: String?
  }

  /// Creates a request for one image in the sizes of `specs`.
  public init(
    url: String, specs: [ThumbnailSpec], headerFields: HTTPFields = [:], priority: Priority = .normal
  ) {
    self.url = url
    self.specs = specs
    self.headerFields = headerFields
    self.priority = priority
  }

  /// Creates a request for thumbnails that fit in squares of `sizes` pixels, in their order.
  public init(url: String, sizes: [Int], headerFields: HTTPFields = [:], priority: Priority = .normal) {
    self.init(url: url, specs: sizes.map { ThumbnailSpec(width: $0) }, headerFields: headerFields, priority: priority)
  }

  /// Creates a request for one thumbnail that fits in a square of `size` pixels.
  public init(url: String, size: Int, headerFields: HTTPFields = [:], priority: Priority = .normal) {
    self.init(url: url, specs: [ThumbnailSpec(width: size)], headerFields: headerFields, priority: priority)
  }
}

extension ThumbnailRequest {
  /// Returns the request with the canonical form of its URL, unless the URL is invalid.
  func parsed() -> ThumbnailRequest {
    var parsed = self
    parsed.source = try? canonicalURL()
    return parsed
  }

  /// Returns the canonical form of the URL, which is parsed only once if ``parsed()`` was called.
  func canonicalURL() throws(FetchFailure) -> SourceURL {
    if let source { return source }
    return try SourceURL(url)
  }
}

// MARK: Foundation

extension ThumbnailRequest {
  /// Creates a request for one image in the sizes of `specs`.
  public init(url: URL, specs: [ThumbnailSpec], headerFields: HTTPFields = [:], priority: Priority = .normal) {
    self.init(url: url.absoluteString, specs: specs, headerFields: headerFields, priority: priority)
  }

  /// Creates a request for thumbnails that fit in squares of `sizes` pixels, in their order.
  public init(url: URL, sizes: [Int], headerFields: HTTPFields = [:], priority: Priority = .normal) {
    self.init(url: url.absoluteString, sizes: sizes, headerFields: headerFields, priority: priority)
  }

  /// Creates a request for one thumbnail that fits in a square of `size` pixels.
  public init(url: URL, size: Int, headerFields: HTTPFields = [:], priority: Priority = .normal) {
    self.init(url: url.absoluteString, size: size, headerFields: headerFields, priority: priority)
  }
}

/// The settings of one request that differ from those of its pipeline. Those that are nil do not differ.
///
/// Requests for the same image with different options are served by the same cache entry, unless their rules for IP
/// addresses, their pages, their modifiers or their pixel processes differ. But each set of options has its own decode,
/// and its own download unless only the cache mode differs.
///
/// ```swift
/// var request = ThumbnailRequest(url: "https://images.example/a.jpg", size: 128)
/// request.options.cacheMode = .refresh
/// request.options.retry = RetryPolicy(limit: 0)
/// ```
public struct RequestOptions: Hashable, Sendable {
  /// Decides when a cached entry is served. Default nil: ``ThumbnailPipeline/Configuration/cacheMode``.
  public var cacheMode: CacheMode?
  /// The deadlines and limits of one attempt, except the rule for IP addresses. Default nil:
  /// ``Downloader/Configuration/limits``.
  public var limits: TransferLimits?
  /// The rule for IP addresses. A request with another one than that of the pipeline has a separate cache entry, which
  /// is not shared with other machines. Default nil: that of ``Downloader/Configuration/limits``.
  public var addresses: AddressPolicy?
  /// The permission to read a local file. Default nil: ``ThumbnailPipeline/Configuration/files``.
  public var files: FileAccess?
  /// The policy for retries. Default nil: ``Downloader/Configuration/retry``.
  public var retry: RetryPolicy?
  /// The maximum number of pixels of the image, which holds when it is decoded: thumbnails in the cache are served
  /// whatever their source. Default nil: ``ThumbnailPipeline/Configuration/maxPixels``.
  public var maxPixels: Int?
  /// The page of a PDF document or of a TIFF file, from 1. A request for another page than the first has a separate
  /// cache entry, which is not shared with other machines. Default nil: ``ThumbnailPipeline/Configuration/page``.
  public var page: Int?
  /// Changes the request before each of its attempts. Its ``RequestModifier/id`` is part of the key of the cache entry.
  /// Default nil: none.
  public var modifier: RequestModifier?
  /// Changes the pixels of each thumbnail before it is encoded. Its `id` is part of the key of the cache
  /// entry, which is not shared with other machines. Default nil: none.
  public var process: PixelProcess?

  /// Creates options that do not differ from the settings of a pipeline.
  public init() {}
}

/// The parameters in the query of a URL that decide which image it leads to. Others, such as signatures and their
/// dates, change with each request for the same image.
public enum CacheKeyQuery: Hashable, Sendable {
  /// All parameters, in their order.
  case all
  /// Those with one of these names, in their order. An empty set ignores the whole query.
  case only(Set<String>)

  /// Returns the URL that stands for `source` in the key of its cache entry; nil for `source` itself.
  func key(of source: SourceURL) -> String? {
    let url = source.description
    guard case .only(let names) = self, let mark = url.firstIndex(of: "?") else { return nil }
    let kept = url[url.index(after: mark)...].split(separator: "&").filter { names.contains(Self.name(of: $0)) }
    return kept.isEmpty ? String(url[..<mark]) : "\(url[...mark])\(kept.joined(separator: "&"))"
  }

  private static func name(of parameter: Substring) -> String {
    let name = parameter.prefix { $0 != "=" }
    return name.removingPercentEncoding ?? String(name)
  }
}
