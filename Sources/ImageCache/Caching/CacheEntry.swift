public import FoundationEssentials

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

/// A source as the cache knows it: its URL, its freshness and validators, and what its bytes were.
public struct StoredSource: Hashable, Sendable {
  /// The outcome of decoding or fetching a source.
  public enum Content: Hashable, Sendable {
    /// An image, with its header, the digest of the whole file and the file's size in bytes.
    case image(SourceImage, digest: BodyDigest, bytes: Int)
    /// A failure, with the code and message of a report. Valid while the policy is fresh, and only for a renderer of
    /// the version and the formats of the one that stored it. Has the digest of the whole file if the bytes alone are
    /// the reason; the same bytes from any other URL are then known to fail too.
    case failure(code: String, message: String, digest: BodyDigest? = nil)
  }

  /// The canonical URL of the request. Compared on every hit.
  public var url: String
  /// The URL of the final response after redirects; nil without redirects.
  public var finalURL: String?
  /// The HTTP status code of the response.
  public var status: Int
  /// The freshness and the validators of the response.
  public var policy: CachePolicy
  /// The outcome: an image or a failure.
  public var content: Content
  /// The time at which this process received or revalidated the response; nil for an entry that an earlier process left
  /// on disk.
  public var obtained: ContinuousClock.Instant?

  /// Creates a source from its parts.
  public init(
    url: String, finalURL: String? = nil, status: Int, policy: CachePolicy, content: Content,
    obtained: ContinuousClock.Instant? = nil
  ) {
    self.url = url
    self.finalURL = finalURL
    self.status = status
    self.policy = policy
    self.content = content
    self.obtained = obtained
  }

  /// Creates the source of an image that came without HTTP, such as a file or an object of a database.
  ///
  /// - Parameters:
  ///   - name: The name of the image, which is that of its ``SourceKey``.
  ///   - image: The image, from its ``Renderer/Rendering``.
  ///   - digest: The digest of the whole file.
  ///   - bytes: The size of the file.
  ///   - lifetime: The time for which the thumbnails are fresh, from `now` on. Default: 68 years, for a name that
  ///     changes with the content.
  ///   - now: The current time. Default: that of the system clock.
  public init(
    name: String, image: SourceImage, digest: BodyDigest, bytes: Int, lifetime: Duration = .seconds(Int32.max),
    now: Date = Date()
  ) {
    self.init(
      url: name, status: 200, policy: CachePolicy(freshFor: lifetime, from: now),
      content: .image(image, digest: digest, bytes: bytes))
  }

  /// The size of all texts in bytes: URLs, header fields and messages. A header may have up to 256 KiB.
  var textBytes: Int {
    var sum = url.utf8.count + (finalURL?.utf8.count ?? 0) + policy.packed.bytes.count
    if case .failure(let code, let message, _) = content { sum += code.utf8.count + message.utf8.count }
    return sum
  }

  /// Returns the decoding failure recorded for the bytes of `digest`; nil if this source does not record one.
  func imageError(of digest: BodyDigest) -> ImageError? {
    guard case .failure(let code, let message, digest) = content else { return nil }
    return ImageError.Code(rawValue: code).map { ImageError($0, message) }
  }

  /// True if this source replaces an image in the cache. Another image does, and so does a 404 or 410 with a lifetime
  /// (RFC 9110, section 15.5). Undecodable bytes may be a maintenance page, and a failure that is never fresh cannot be
  /// served later. Neither is worth losing the thumbnails, which can still be revalidated, served when the origin
  /// fails, and served offline.
  var replacesImages: Bool {
    guard case .failure = content else { return true }
    return (status == 404 || status == 410) && policy.freshUntil > policy.respondedAt
  }

  /// True if the source is an image.
  public var isImage: Bool {
    if case .image = content { return true }
    return false
  }

  /// Returns true if this source replaces `other` in the cache.
  func replaces(_ other: StoredSource) -> Bool {
    guard case .image = other.content, url == other.url else { return true }
    return replacesImages
  }

  /// Returns true if thumbnails stored with `other` are valid for this source too, because both have the same bytes.
  func sharesThumbnails(with other: StoredSource) -> Bool {
    guard case .image(_, let digest, _) = content, case .image(_, let otherDigest, _) = other.content else {
      return false
    }
    return url == other.url && digest == otherDigest
  }
}
