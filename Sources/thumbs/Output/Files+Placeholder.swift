import BatchFetch
import ImageCache

// A placeholder is made and kept like a thumbnail, but it is no file.

extension [ThumbnailSpec] {
  /// The specs without that of the placeholder, which is no file.
  var files: [ThumbnailSpec] { filter { $0.format != .placeholder } }
}

extension ThumbnailSet {
  /// The thumbnails without the placeholder.
  var files: [Thumbnail] { thumbnails.filter { $0.format != .placeholder } }
}

extension ListedSource {
  /// The thumbnails without the placeholder.
  var files: [Thumbnail] { thumbnails.filter { $0.format != .placeholder } }

  /// Reads the placeholder of the source in the cache of `inspector`; nil if the source has no placeholder.
  func placeholder(in inspector: CacheInspector) throws -> Placeholder? {
    guard thumbnails.contains(where: { $0.spec == .placeholder }) else { return nil }
    return try inspector.thumbnail(.placeholder, of: key, url: source.url)?.placeholder
  }
}
