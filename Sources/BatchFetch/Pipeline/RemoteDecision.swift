internal import Foundation
internal import ImageCache

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

  /// The image as one that the server of the remote cache must not serve any more.
  fileprivate var stale: CachedImage {
    var image = self
    image.source.policy = source.policy.fromSharedCache
    return image
  }
}
