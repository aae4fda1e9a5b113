internal import Foundation
internal import HTTPTypes
public import ImageCache

/// Decides when cached entries are served.
public enum CacheMode: String, CaseIterable, Hashable, Sendable {
  /// Serves fresh entries and revalidates stale ones.
  case normal
  /// Serves fresh images like ``normal``, but no failure that was remembered before the batch, such as a 404: its
  /// source is requested again.
  case retry
  /// Revalidates every entry, fresh or not.
  case refresh
  /// Serves every entry, fresh or not, and makes no requests.
  case offline
}

/// The rules that the images of a pipeline must follow besides being decodable. The placeholders that hosts send in
/// place of an image break them.
///
/// ```swift
/// var configuration = ThumbnailPipeline.Configuration()
/// configuration.content.minPixels = 32 * 32
/// configuration.content.rejectedDigests = [placeholder]
/// ```
public struct ContentRules: Hashable, Sendable {
  /// The minimum number of pixels of an image. One with fewer fails with `too_few_pixels`, as soon as its header has
  /// arrived. Default 0.
  public var minPixels = 0
  /// The maximum ratio of the longer side of an image to the shorter one, at least 1. A longer image fails with
  /// `too_long`, as soon as its header has arrived. Default nil: any.
  public var maxAspectRatio: Double?
  /// The digests of files that fail with `rejected_hash`. Default: none.
  public var rejectedDigests: Set<BodyDigest> = []

  /// Creates rules that accept every image.
  public init() {}

  /// Returns the failure of a file with `digest`; nil if it is not rejected.
  func failure(of digest: BodyDigest) -> FetchFailure? {
    guard rejectedDigests.contains(digest) else { return nil }
    return FetchFailure(.rejectedHash, "The file has the rejected SHA-256 \(digest).")
  }

  /// Returns the failure of an image in a cache; nil if it follows the rules.
  func failure(of source: StoredSource) -> FetchFailure? {
    guard case .image(let image, let digest, _) = source.content else { return nil }
    if let failure = failure(of: digest) { return failure }
    do throws(ImageError) {
      try image.size.check(minPixels: minPixels, maxAspectRatio: maxAspectRatio)
      return nil
    } catch {
      return FetchFailure(error)
    }
  }
}

/// The combined demand of all callers of one image.
struct RenderDemand {
  let specs: [ThumbnailSpec]
  /// The digests that callers expect.
  let digests: Set<BodyDigest>
  /// Responses obtained since then count as fresh; nil if a caller has no such instant.
  let since: ContinuousClock.Instant?

  /// Returns true if no caller expects other bytes than those of `source`.
  func accepts(_ source: StoredSource) -> Bool {
    guard let digest = source.digest else { return true }
    return digests.allSatisfy { $0 == digest }
  }
}

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
  ///   - content: a remembered `rejected_hash` that these rules do not reject is ignored.
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
    if let image = ImageError.Code(rawValue: name), level.tolerates(image) { return nil }
    if code == .rejectedHash, digest.flatMap(content.failure(of:)) == nil { return nil }
    return FetchFailure(code, message, httpStatus: source.status)
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

/// Decides how callers are served, given what a remote cache has.
enum RemoteDecision {
  /// Serve the image, and store it in the local cache.
  case serve(CachedImage)
  /// Fail: these bytes are known to fail. The local cache keeps the source.
  case fail(FetchFailure, StoredSource)
  /// Request the source and offer this image for confirmation. The local cache needs it first: it keeps the thumbnails
  /// if the server confirms them.
  case confirm(CachedImage)
  /// Request the source as if there were no remote cache.
  case proceed

  /// - Parameters:
  ///   - finding: What the remote cache has.
  ///   - query: What it was searched for.
  ///   - failLevel: Failures that it tolerates do not count.
  init(_ finding: RemoteFinding, _ query: RemoteQuery, mode: CacheMode, failLevel: FailLevel, now: Date) {
    guard let source = finding.source else {
      self = .proceed
      return
    }
    let isFresh = [.normal, .retry].contains(mode) && query.local.isFresh(source, now: now)
    if let failure = CacheDecision.failure(of: source, failLevel) {
      let isServed = isFresh && mode != .retry
      self = isServed ? .fail(CacheDecision.remembered(failure, of: source), source) : .proceed
    } else if let image = CachedImage(source, finding.thumbnails, specs: query.specs) {
      self = isFresh ? .serve(image) : query.local.isOlder(than: source) ? .confirm(image.stale) : .proceed
    } else {
      self = .proceed
    }
  }
}

extension RemoteQuery.Local {
  /// Returns true if `source`, found in a remote cache, may be served. One that was fresh locally still is.
  fileprivate func isFresh(_ source: StoredSource, now: Date) -> Bool {
    switch self {
    case .fresh: true
    case .nothingFresh: source.policy.sharedState(at: now) == .fresh
    }
  }

  /// Returns true if the local cache has no image, or an older one.
  fileprivate func isOlder(than source: StoredSource) -> Bool {
    guard case .nothingFresh(let image?) = self else { return true }
    return source.isNewer(than: image.source)
  }
}

extension CachedImage {
  /// Creates an image from a remote cache; nil if it lacks a thumbnail of `specs` or is a failure.
  fileprivate init?(_ source: StoredSource, _ thumbnails: [ThumbnailSpec: Thumbnail], specs: [ThumbnailSpec]) {
    guard specs.allSatisfy({ thumbnails[$0] != nil }) else { return nil }
    self.init(CacheEntry(source: source, thumbnails: thumbnails, origin: .memory))
  }

  /// The image as one that the server of the remote cache must not serve anymore.
  fileprivate var stale: CachedImage {
    var image = self
    image.source.policy = source.policy.fromSharedCache
    return image
  }
}
