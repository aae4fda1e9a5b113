internal import Foundation
internal import HTTPTypes
internal import ImageCache

/// What a look into the cache means for those who wait.
enum CacheVerdict {
  /// They are served from here.
  case serve(CachedPicture, ThumbnailSet.Origin)
  /// It is as good as fresh, and lacks a size: what it was made from may be here too.
  case complete(StoredSource)
  /// It is known to fail.
  case fail(FetchFailure)
  /// The server is to be asked; where it can, with conditions under which the entry would be confirmed.
  case fetch(confirming: CachedPicture?)

  /// - Parameters:
  ///   - entry: what the cache has.
  ///   - specs: everything that is wanted.
  ///   - since: answers of this process are good from this moment on; nil where only fresh ones are.
  init(
    _ entry: CacheEntry?, specs: [ThumbnailSpec], mode: CacheMode, since: ContinuousClock.Instant?, now: Date
  ) {
    let miss = mode == .offline ? CacheVerdict.fail(Self.offlineMiss) : .fetch(confirming: nil)
    guard let entry else {
      self = miss
      return
    }
    let isGood = Self.isGood(entry.source, mode: mode, since: since, now: now)
    if let setback = entry.setback, mode != .offline, Self.isGood(setback, mode: mode, since: since, now: now),
      let failure = Self.failure(of: setback)
    {
      self = .fail(failure)
    } else if let picture = CachedPicture(entry), specs.allSatisfy({ picture.thumbnails[$0] != nil }) {
      self = isGood ? .serve(picture, Self.origin(of: picture, now: now)) : .fetch(confirming: picture)
    } else if isGood, CachedPicture(entry) != nil {
      self = .complete(entry.source)
    } else if isGood, let failure = Self.failure(of: entry.source) {
      self = .fail(failure)
    } else {
      self = miss
    }
  }

  /// Returns the stored failure; nil for an image.
  private static func failure(of source: StoredSource) -> FetchFailure? {
    guard case .failure(let code, let message, _) = source.content else { return nil }
    return FetchFailure(FailureCode(code) ?? .image(.decodeError), message, httpStatus: source.status)
  }

  static let offlineMiss = FetchFailure(.offlineMiss, "Not in the cache, and no server is asked.")

  /// What was got by this process is as good as fresh: it was so a moment ago.
  private static func origin(of picture: CachedPicture, now: Date) -> ThumbnailSet.Origin {
    guard picture.source.policy.state(at: now) == .fresh || picture.source.obtained != nil else { return .stale }
    return picture.tier == .memory ? .memory : .disk
  }

  private static func isGood(
    _ source: StoredSource, mode: CacheMode, since: ContinuousClock.Instant?, now: Date
  ) -> Bool {
    if let since, let obtained = source.obtained, obtained >= since { return true }
    return switch mode {
    case .normal: source.policy.state(at: now) == .fresh
    case .refresh: false
    case .offline: true
    }
  }
}
