/// Counts of what a pipeline has done with its remote cache. The unit is one image.
public struct RemoteCacheCounters: Hashable, Sendable {
  /// Lookups that found the image with all its thumbnails, fresh or stale.
  public var hits = 0
  /// Lookups that did not find the image, or lacked a thumbnail.
  public var misses = 0
  /// Lookups that failed because the server did not respond in time.
  public var timeouts = 0
  /// Lookups that failed for another reason, such as a status of 500.
  public var errors = 0
  /// Lookups that met an object that failed a check: damaged, signed with another key, or that of another image.
  public var rejected = 0
  /// Images that were not looked up because earlier requests had failed.
  public var skipped = 0
  /// Images that were uploaded.
  public var stored = 0
  /// Images whose upload failed.
  public var failed = 0
  /// Images that were not uploaded, because too many waited, earlier requests had failed, or the time was over.
  public var dropped = 0

  /// Creates counters that are all zero.
  public init() {}
}
