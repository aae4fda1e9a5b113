internal import ImageCache

/// The thumbnails of one source that are looked for in a remote cache.
struct RemoteQuery: Sendable {
  /// The part of them that the local cache has.
  enum Local: Sendable {
    /// Nothing that is fresh. A stale image may still have the right thumbnails.
    case nothingFresh(CachedImage?)
    /// A fresh source that lacks thumbnails.
    case fresh(StoredSource)
  }

  let key: SourceKey
  let url: String
  let specs: [ThumbnailSpec]
  let local: Local
}

/// The objects of one source that a remote cache has.
struct RemoteFinding: Sendable {
  /// The source; nil if there is none, or none that is usable.
  var source: StoredSource?
  /// The thumbnails of the source, including those that the local cache has.
  var thumbnails: [ThumbnailSpec: Thumbnail] = [:]
  /// The thumbnails whose objects are unusable.
  var unusable: Set<ThumbnailSpec> = []
  /// The first problem; nil if there was none.
  var problem: RemoteProblem?
}
