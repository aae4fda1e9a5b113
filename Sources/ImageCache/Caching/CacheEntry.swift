/// One source with those of its thumbnails that were asked for and are there.
///
/// One reference, however much it describes: memory hands the same one to everyone.
public struct CacheEntry: Sendable {
  /// The level an entry came from.
  public enum Tier: String, Hashable, Sendable {
    /// Memory, or a write that is on its way to the disk.
    case memory
    /// The disk, at least in part.
    case disk
  }

  /// What an entry describes.
  final class Content: Sendable {
    let source: StoredSource
    let thumbnails: [ThumbnailSpec: Thumbnail]
    /// See ``CacheEntry/setback``.
    let setback: StoredSource?
    /// The spec of the only thumbnail, the usual case, at hand without a look into the table of them.
    let onlySpec: ThumbnailSpec?

    init(_ source: StoredSource, _ thumbnails: [ThumbnailSpec: Thumbnail], setback: StoredSource? = nil) {
      self.source = source
      self.thumbnails = thumbnails
      self.setback = setback
      onlySpec = thumbnails.count == 1 ? thumbnails.first?.key : nil
    }
  }

  let content: Content
  /// Where it came from.
  public let origin: Tier

  /// The source. Whether it is fresh is for the caller to judge: stale entries are returned too.
  public var source: StoredSource { content.source }
  /// A failure that this process met after it had the picture, and that does not take the picture's place; nil for none.
  /// As long as it is good, the source is known to fail.
  public var setback: StoredSource? { content.setback }
  /// The thumbnails found, of those asked for.
  public var thumbnails: [ThumbnailSpec: Thumbnail] { content.thumbnails }

  /// An entry from its parts.
  public init(source: StoredSource, thumbnails: [ThumbnailSpec: Thumbnail], origin: Tier) {
    self.init(Content(source, thumbnails), origin: origin)
  }

  init(_ content: Content, origin: Tier) {
    self.content = content
    self.origin = origin
  }
}

extension CacheEntry.Content {
  /// Bytes kept alive: the pictures, and a round figure for the rest.
  var cost: Int { thumbnails.values.reduce(setback == nil ? 1024 : 2048) { $0 + $1.bytes.capacity + 256 } }

  /// The content with a failure that does not take its place.
  func with(setback: StoredSource) -> CacheEntry.Content { CacheEntry.Content(source, thumbnails, setback: setback) }

  /// Whether no other level can have more of it: all thumbnails are there, or there can be none.
  func isComplete(for specs: [ThumbnailSpec]) -> Bool {
    if case .failure = source.content { return true }
    return specs.allSatisfy { thumbnails[$0] != nil }
  }

  /// The content with the thumbnails of `specs` alone: this one itself where it has no others.
  func narrowed(to specs: [ThumbnailSpec]) -> CacheEntry.Content {
    // A few specs are compared faster than hashed.
    if let onlySpec, specs.contains(onlySpec) { return self }
    let isExact = thumbnails.count <= specs.count && thumbnails.keys.allSatisfy { specs.contains($0) }
    if isExact { return self }
    let wanted = Set(specs)
    return CacheEntry.Content(source, thumbnails.filter { wanted.contains($0.key) }, setback: setback)
  }
}
