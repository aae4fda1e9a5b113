/// One source with the requested thumbnails that the cache has.
///
/// A copy costs one reference: the memory tier hands the same object to every caller.
public struct CacheEntry: Sendable {
  /// The tier an entry came from.
  public enum Tier: String, Hashable, Sendable {
    /// Memory, including writes still waiting for the disk.
    case memory
    /// The disk, at least in part.
    case disk
  }

  /// The shared contents of an entry.
  final class Content: Sendable {
    /// The spec of the only thumbnail, which is the usual case. Saves a lookup in the dictionary.
    let onlySpec: ThumbnailSpec?
    let source: StoredSource
    let thumbnails: [ThumbnailSpec: Thumbnail]
    /// See ``CacheEntry/laterFailure``.
    let laterFailure: StoredSource?

    init(_ source: StoredSource, _ thumbnails: [ThumbnailSpec: Thumbnail], laterFailure: StoredSource? = nil) {
      self.source = source
      self.thumbnails = thumbnails
      self.laterFailure = laterFailure
      onlySpec = thumbnails.count == 1 ? thumbnails.first?.key : nil
    }
  }

  let content: Content
  /// The tier this entry came from.
  public let origin: Tier

  /// The source, fresh or stale. The caller decides which by its ``StoredSource/policy``.
  public var source: StoredSource { content.source }
  /// A failure that this process met after the image was stored and that did not replace the image; nil if there is
  /// none. While its policy is fresh, a new request is known to fail.
  public var laterFailure: StoredSource? { content.laterFailure }
  /// The requested thumbnails that were found, by spec.
  public var thumbnails: [ThumbnailSpec: Thumbnail] { content.thumbnails }

  /// Creates an entry from its parts.
  public init(source: StoredSource, thumbnails: [ThumbnailSpec: Thumbnail], origin: Tier) {
    self.init(Content(source, thumbnails), origin: origin)
  }

  init(_ content: Content, origin: Tier) {
    self.content = content
    self.origin = origin
  }
}

extension CacheEntry.Content {
  /// The bytes kept alive: the encoded thumbnails and the texts, plus a flat estimate for everything else.
  var cost: Int {
    let sources = 1024 + source.textBytes + (laterFailure.map { 1024 + $0.textBytes } ?? 0)
    return thumbnails.values.reduce(sources) { $0 + $1.bytes.capacity + 256 }
  }

  /// Returns a copy with a failure that does not replace the image.
  func with(laterFailure: StoredSource) -> CacheEntry.Content {
    CacheEntry.Content(source, thumbnails, laterFailure: laterFailure)
  }

  /// Returns true if no other tier can add anything: every thumbnail is present, or the source is a failure and has
  /// none.
  func isComplete(for specs: [ThumbnailSpec]) -> Bool {
    if case .failure = source.content { return true }
    // Comparing a spec is faster than hashing it.
    return specs.allSatisfy { $0 == onlySpec || thumbnails[$0] != nil }
  }

  /// Returns the content with only the thumbnails of `specs`, or the same object if it has no others.
  func narrowed(to specs: [ThumbnailSpec]) -> CacheEntry.Content {
    // Comparing a few specs is faster than hashing them.
    if let onlySpec, specs.contains(onlySpec) { return self }
    let isExact = thumbnails.count <= specs.count && thumbnails.keys.allSatisfy { specs.contains($0) }
    if isExact { return self }
    let wanted = Set(specs)
    return CacheEntry.Content(source, thumbnails.filter { wanted.contains($0.key) }, laterFailure: laterFailure)
  }
}
