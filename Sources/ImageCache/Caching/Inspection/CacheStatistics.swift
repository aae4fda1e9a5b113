public import FoundationEssentials

/// What a cache directory holds. All sizes in bytes.
public struct CacheStatistics: Hashable, Sendable {
  /// The directory.
  public var directory: String
  /// The number of the generation in use.
  public var generation: Int
  /// Sources, whatever became of them.
  public var sources: Int
  /// Sources whose picture may be used without asking the origin.
  public var freshSources: Int
  /// Sources whose picture must be validated first.
  public var staleSources: Int
  /// Sources that gave no picture.
  public var failures: Int
  /// Thumbnails of all sources.
  public var thumbnails: Int
  /// The sum of the thumbnails' sizes.
  public var thumbnailBytes: Int
  /// The size of the originals that are kept.
  public var originalBytes: Int
  /// The part of the database that holds something: what the limit is about.
  public var usedBytes: Int
  /// The limit stored in the cache itself; nil when there is none.
  public var storedLimit: Int?
  /// The size of the database's file.
  public var databaseBytes: Int
  /// The size of the write-ahead log.
  public var logBytes: Int
  /// When the source that was not used for longest was used; nil without sources.
  public var oldestUse: Date?
}
