/// One source as the cache knows it: where it came from, how long that is believed, and what it was.
public struct StoredSource: Hashable, Sendable {
  /// What became of a source's bytes.
  public enum Content: Hashable, Sendable {
    /// A picture: its header, the digest and the size in bytes of the whole file.
    case picture(SourceImage, digest: BodyDigest, bytes: Int)
    /// No picture, by a report's code and sentence. Believed while the policy is fresh, and only by the
    /// ``Renderer/version`` that stored it. With the digest of the whole file where its bytes alone are the reason: the
    /// same bytes are known then, wherever they come from.
    case failure(code: String, message: String, digest: BodyDigest? = nil)
  }

  /// The canonical URL that was asked for. Compared on every hit.
  public var url: String
  /// The URL that answered, when redirects led to another one.
  public var finalURL: String?
  /// The status of the answer.
  public var status: Int
  /// How long the answer is believed, and how to validate it.
  public var policy: CachePolicy
  /// What the answer was.
  public var content: Content
  /// When this process got the answer, or its confirmation; nil for what an earlier one left on disk.
  public var obtained: ContinuousClock.Instant?

  /// A source from its parts.
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

  /// Why the bytes of `digest` are no picture, if this is about them.
  func imageError(of digest: BodyDigest) -> ImageError? {
    guard case .failure(let code, let message, digest) = content else { return nil }
    return ImageError.Code(rawValue: code).map { ImageError($0, message) }
  }

  /// Whether this takes the place of a picture in the cache. Another picture does, and so does a server that says for a
  /// while that there is none (404, 410, RFC 9110 section 15.5). Bytes that are no picture may be a page about
  /// maintenance, and a failure that is never fresh is of no use later: neither is worth the thumbnails, which can still
  /// be confirmed, stand in for a server that fails, and be served offline.
  var replacesPictures: Bool {
    guard case .failure = content else { return true }
    return (status == 404 || status == 410) && policy.freshUntil > policy.respondedAt
  }

  /// Whether this takes the place of `other` in the cache.
  func replaces(_ other: StoredSource) -> Bool {
    guard case .picture = other.content, url == other.url else { return true }
    return replacesPictures
  }

  /// Whether thumbnails stored with `other` are thumbnails of this source too: both are the same bytes.
  func sharesThumbnails(with other: StoredSource) -> Bool {
    guard case .picture(_, let digest, _) = content, case .picture(_, let otherDigest, _) = other.content else {
      return false
    }
    return url == other.url && digest == otherDigest
  }
}
