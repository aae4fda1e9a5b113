internal import Foundation
internal import HTTPTypes
internal import ImageCache

/// Decides how callers are served, given the entry in the cache.
enum CacheDecision {
  /// Serve the cached thumbnails.
  case serve(CachedImage, ThumbnailSet.Origin)
  /// The entry counts as fresh but lacks a size. The cache may have kept the original.
  case complete(StoredSource)
  /// Fail: the source is known to fail.
  case fail(FetchFailure)
  /// Request the source, conditionally if there is an entry that the server can confirm.
  case fetch(confirming: CachedImage?)

  /// - Parameters:
  ///   - entry: the entry in the cache, if any.
  ///   - demand: what the callers want.
  ///   - failLevel: failures that it tolerates do not count.
  ///   - content: a failure because of other rules does not count.
  init(
    _ entry: CacheEntry?, _ demand: RenderDemand, mode: CacheMode, failLevel: FailLevel = .error,
    content: ContentRules = ContentRules(), now: Date
  ) {
    let miss = mode == .offline ? CacheDecision.fail(Self.offlineMiss) : .fetch(confirming: nil)
    guard let entry else {
      self = miss
      return
    }
    let isFresh = Self.isFresh(entry.source, mode: mode, demand, now: now)
    if let laterFailure = entry.laterFailure, mode != .offline,
      Self.isFresh(laterFailure, mode: mode, demand, now: now),
      let failure = Self.failure(of: laterFailure, failLevel, content)
    {
      self = .fail(Self.remembered(failure, of: laterFailure, demand))
    } else if let image = CachedImage(entry), demand.specs.allSatisfy({ image.thumbnails[$0] != nil }) {
      self = isFresh ? .serve(image, Self.origin(of: image, now: now)) : .fetch(confirming: image)
    } else if isFresh, CachedImage(entry) != nil {
      self = .complete(entry.source)
    } else if isFresh, let failure = Self.failure(of: entry.source, failLevel, content) {
      self = .fail(Self.remembered(failure, of: entry.source, demand))
    } else {
      self = miss
    }
  }

  /// Returns the stored failure; nil for an image, and for a failure that is tolerated or due to other rules.
  static func failure(
    of source: StoredSource, _ level: FailLevel, _ content: ContentRules = ContentRules()
  ) -> FetchFailure? {
    guard case .failure(let name, let message, let digest) = source.content else { return nil }
    let code = FailureCode(name) ?? .image(.decodeError)
    switch code {
    case .image(let code) where level.tolerates(code): return nil
    case .rejectedHash where digest.flatMap(content.failure(of:)) == nil: return nil
    default: return FetchFailure(code, message, httpStatus: source.status)
    }
  }

  /// Returns the stored failure with the time of its response, unless that came after the batch had begun.
  static func remembered(
    _ failure: FetchFailure, of source: StoredSource, _ demand: RenderDemand? = nil
  ) -> FetchFailure {
    if let since = demand?.since, let obtained = source.obtained, obtained >= since { return failure }
    var failure = failure
    let time = source.policy.responseDate
    failure.rememberedSince = time
    failure.message += " Remembered from \(time.ISO8601Format()); no request was sent."
    return failure
  }

  static let offlineMiss = FetchFailure(.offlineMiss, "The image is not in the cache, and the cache mode is offline.")

  /// Returns the origin to report. Entries fetched by this process count as fresh.
  private static func origin(of image: CachedImage, now: Date) -> ThumbnailSet.Origin {
    guard image.source.policy.state(at: now) == .fresh || image.source.obtained != nil else { return .stale }
    return image.tier == .memory ? .memory : .disk
  }

  private static func isFresh(
    _ source: StoredSource, mode: CacheMode, _ demand: RenderDemand, now: Date
  ) -> Bool {
    if let since = demand.since, let obtained = source.obtained, obtained >= since { return true }
    return switch mode {
    // The URL may lead to the expected bytes by now.
    case .normal: source.policy.state(at: now) == .fresh && demand.accepts(source)
    case .retry: source.isImage && source.policy.state(at: now) == .fresh && demand.accepts(source)
    case .refresh: false
    case .offline: true
    }
  }
}

/// A cache entry of an image, not of a failure.
struct CachedImage: Sendable {
  var source: StoredSource
  let image: SourceImage
  let digest: BodyDigest
  /// The length of the source in bytes.
  let bytes: Int
  let thumbnails: [ThumbnailSpec: Thumbnail]
  let tier: CacheEntry.Tier

  /// Returns nil for the entry of a failure.
  init?(_ entry: CacheEntry) {
    guard case .image(let image, let digest, let bytes) = entry.source.content else { return nil }
    self.source = entry.source
    self.image = image
    self.digest = digest
    self.bytes = bytes
    self.thumbnails = entry.thumbnails
    self.tier = entry.origin
  }
}

/// Decides how callers are served, given the outcome of a download.
enum ResponseDecision {
  /// Render the body.
  case render(Download)
  /// Serve the cached image: the server has confirmed it.
  case confirmed(CachedImage, Download)
  /// Serve the cached image: its URL redirects to the same target as before, which is still fresh.
  case reused(CachedImage, Download)
  /// Serve the cached image although it is stale: the request failed, and the entry may be used on errors.
  case stale(CachedImage)
  /// Request the source without conditions: the server has confirmed something other than the cached image.
  case requestAgain
  /// Fail.
  case fail(FetchFailure)

  /// - Parameter image: The cached image that the request offered for confirmation, with all sizes that were wanted
  ///   then.
  init(_ result: Result<Download, FetchFailure>, confirming image: CachedImage?, now: Date) {
    switch result {
    case .success(let download) where download.response.status == .ok:
      self = .render(download)
    case .success(let download) where download.response.status == .notModified:
      // A request without conditions that got a 304 would get another one if it were repeated.
      if let image, download.isTargetReused {
        self = .reused(image, download)
      } else if let image {
        self = Self.confirms(download, image.source) ? .confirmed(image, download) : .requestAgain
      } else {
        self = .fail(FetchFailure(statusOf: download, now: now))
      }
    case .success(let download):
      self = Self.standIn(for: FetchFailure(statusOf: download, now: now), image, now: now)
    case .failure(let failure):
      self = Self.standIn(for: failure, image, now: now)
    }
  }

  /// Returns true if a 304 response confirms the stored source. Validators belong to one URL (RFC 9110, section 8.8):
  /// if a redirect leads elsewhere now, the file there may just be older, or have the same tag by chance.
  private static func confirms(_ download: Download, _ source: StoredSource) -> Bool {
    source.policy.isConfirmed(by: download.response) && download.finalURL == source.finalURL
  }

  /// Applies `stale-if-error` (RFC 5861, section 4).
  private static func standIn(for failure: FetchFailure, _ image: CachedImage?, now: Date) -> ResponseDecision {
    let isUnreachable = failure.code.isRetryable || failure.code == .dnsNotFound
    guard isUnreachable, let image, image.source.policy.mayServeStaleOnError(at: now) else { return .fail(failure) }
    return .stale(image)
  }
}
