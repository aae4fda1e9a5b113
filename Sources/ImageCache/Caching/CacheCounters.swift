/// Counts of what a cache has done since it was created.
public struct CacheCounters: Hashable, Sendable {
  /// Lookups served from memory or from a write still waiting for the disk.
  public var memoryHits = 0
  /// Lookups that found everything, at least in part on disk.
  public var diskHits = 0
  /// Lookups that found no source or lacked a thumbnail.
  public var misses = 0
  /// Sources committed to disk.
  public var written = 0
  /// Sources that were not written to disk because a write failed or too many writes were waiting.
  public var dropped = 0
  /// Thumbnails too large for the disk limit.
  public var refused = 0
  /// Sources removed from disk to stay within the limit.
  public var evicted = 0
  /// Entries on disk that failed a check and were removed.
  public var unusable = 0
  /// Failures of the disk tier by cause.
  public var errors: [DiskCacheError.Code: Int] = [:]

  /// Creates counters that are all zero.
  public init() {}
}
