internal import ImageCache

/// A cache entry that is a picture.
struct CachedPicture: Sendable {
  var source: StoredSource
  let image: SourceImage
  /// Length of the source's file.
  let bytes: Int
  let thumbnails: [ThumbnailSpec: Thumbnail]
  let tier: CacheEntry.Tier

  /// Nil for what is known to be no picture.
  init?(_ entry: CacheEntry) {
    guard case .picture(let image, _, let bytes) = entry.source.content else { return nil }
    self.source = entry.source
    self.image = image
    self.bytes = bytes
    self.thumbnails = entry.thumbnails
    self.tier = entry.origin
  }
}
