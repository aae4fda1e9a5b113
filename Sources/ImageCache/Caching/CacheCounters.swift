/// What a cache did since it was made.
public struct CacheCounters: Hashable, Sendable {
  /// Look-ups that memory, or a write on its way to the disk, answered.
  public var memoryHits = 0
  /// Look-ups that the disk answered, at least in part.
  public var diskHits = 0
  /// Look-ups that found no source.
  public var misses = 0
  /// Sources that were committed to the disk.
  public var written = 0
  /// Sources that should have gone to the disk and did not: it failed, or could not keep up.
  public var dropped = 0
  /// Thumbnails too large for the disk's limit.
  public var refused = 0
  /// Sources removed from the disk to keep its limit.
  public var evicted = 0
  /// Entries on disk that failed a check, and were removed.
  public var unusable = 0
  /// Failures of the disk tier, by cause.
  public var errors: [DiskCacheError.Code: Int] = [:]

  /// Counters that stand at zero.
  public init() {}
}
