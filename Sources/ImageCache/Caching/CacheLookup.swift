/// A lookup of one source in the cache.
public struct CacheLookup: Hashable, Sendable {
  /// The key of the source.
  public var key: SourceKey
  /// The canonical URL, which must equal the stored one.
  public var url: String
  /// The thumbnails to return. Some may be missing from the entry.
  public var specs: [ThumbnailSpec]

  /// Creates a lookup.
  public init(key: SourceKey, url: String, specs: [ThumbnailSpec]) {
    self.key = key
    self.url = url
    self.specs = specs
  }
}
