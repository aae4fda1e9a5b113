public import FoundationEssentials

/// The contents of a cache directory. All sizes are in bytes.
public struct CacheStatistics: Hashable, Sendable {
  /// The path of the directory.
  public var directory: String
  /// The number of the current generation.
  public var generation: Int
  /// The number of all sources, images and failures.
  public var sources: Int
  /// The number of images that may be used without contacting the origin.
  public var freshSources: Int
  /// The number of images that must be validated first.
  public var staleSources: Int
  /// The number of sources that failed.
  public var failures: Int
  /// The number of thumbnails of all sources.
  public var thumbnails: Int
  /// The total size of all thumbnails.
  public var thumbnailBytes: Int
  /// The total size of the originals that are kept.
  public var originalBytes: Int
  /// The size of the used pages of the database, to which the limit applies.
  public var usedBytes: Int
  /// The limit stored in the cache itself; nil if there is none.
  public var storedLimit: Int?
  /// The size of the database file.
  public var databaseBytes: Int
  /// The size of the write-ahead log.
  public var logBytes: Int
  /// The time of the oldest last use of any source; nil without sources.
  public var oldestUse: Date?
}
