/// One source with those of its thumbnails that were asked for and are there.
public struct CacheEntry: Sendable {
  /// The level an entry came from.
  public enum Tier: String, Hashable, Sendable {
    /// Memory, or a write that is on its way to the disk.
    case memory
    /// The disk, at least in part.
    case disk
  }

  /// The source. Whether it is fresh is for the caller to judge: stale entries are returned too.
  public var source: StoredSource
  /// The thumbnails found, of those asked for.
  public var thumbnails: [ThumbnailSpec: Thumbnail]
  /// Where it came from.
  public var origin: Tier

  /// An entry from its parts.
  public init(source: StoredSource, thumbnails: [ThumbnailSpec: Thumbnail], origin: Tier) {
    self.source = source
    self.thumbnails = thumbnails
    self.origin = origin
  }
}

extension CacheEntry {
  /// Whether no other level can have more of it: all thumbnails are there, or there can be none.
  func isComplete(for specs: [ThumbnailSpec]) -> Bool {
    if case .failure = source.content { return true }
    return specs.allSatisfy { thumbnails[$0] != nil }
  }
}
