import Foundation
import ImageCache

/// The output of `cache show`. Its JSON fields are the properties: fields may be added; existing ones do not change.
struct ShownSource: Encodable {
  struct Thumbnail: Encodable {
    let spec, format: String
    let width, height, bytes: Int
  }

  struct ShownPlaceholder: Encodable {
    let thumbhash: String
    let color: String?
  }

  struct Explanation: Encodable {
    let basis, next: String
    let age, lifetime: Int
    let respondedAt: Date
    let freshUntil, staleOnErrorUntil: Date?
    let cacheControl, etag, lastModified, vary: String?
  }

  let key, url, state: String
  let finalURL: String?
  let status, bytes: Int
  let width, height, sourceBytes: Int?
  let format, digest, code, message: String?
  let lastUsed: Date
  let thumbnails: [Thumbnail]
  let placeholder: ShownPlaceholder?
  let explanation: Explanation?

  init(
    _ listed: ListedSource, placeholder: Placeholder?, explains: Bool, showsFullURL: Bool, now: Date
  ) {
    let source = listed.source
    let shown = { (url: String) in CacheText.field(showsFullURL ? url : CacheText.redacted(url)) }
    (key, state, status) = (listed.key.description, listed.state(at: now).rawValue, source.status)
    (url, finalURL) = (shown(source.url), source.finalURL.map(shown))
    (bytes, lastUsed) = (listed.bytes, listed.lastUsed)
    self.placeholder = placeholder.map {
      ShownPlaceholder(thumbhash: $0.thumbHash.base64, color: $0.color.map { "#\($0)" })
    }
    thumbnails = listed.files.sorted { $0.bytes < $1.bytes }.map {
      Thumbnail(
        spec: $0.label, format: $0.format.rawValue, width: $0.size.width, height: $0.size.height, bytes: $0.bytes)
    }
    switch source.content {
    case .image(let image, let digest, let bytes):
      (width, height, sourceBytes) = (image.size.width, image.size.height, bytes)
      (format, self.digest, code, message) = (image.format.rawValue, digest.description, nil, nil)
    case .failure(let code, let message, _):
      (width, height, sourceBytes, format, digest) = (nil, nil, nil, nil, nil)
      (self.code, self.message) = (code, message)
    }
    explanation = explains ? Explanation(listed, now: now) : nil
  }
}

extension ShownSource.Explanation {
  init(_ listed: ListedSource, now: Date) {
    let policy = listed.source.policy.explanation(at: now)
    (basis, age, lifetime, respondedAt) = (policy.basis.rawValue, policy.age, policy.lifetime, policy.respondedAt)
    (freshUntil, staleOnErrorUntil) = (policy.freshUntil, policy.staleOnErrorUntil)
    (cacheControl, etag, lastModified, vary) = (
      policy.cacheControl, policy.entityTag, policy.lastModified, policy.vary
    )
    next = Self.next(listed, policy)
  }

  /// Describes what a request would do now.
  private static func next(_ listed: ListedSource, _ policy: CachePolicy.Explanation) -> String {
    let isFresh = policy.state == .fresh
    if case .failure(let code, _, _) = listed.source.content {
      return isFresh ? "fail with \(code), without contacting the server" : "contact the server again"
    }
    guard !isFresh else { return "be served from the cache, without contacting the server" }
    let reason = policy.isFromTheFuture ? " (the clock was set back)" : ""
    let validators = [
      policy.entityTag.map { _ in "If-None-Match" }, policy.lastModified.map { _ in "If-Modified-Since" },
    ]
    let conditions = validators.compactMap { $0 }.joined(separator: " and ")
    if listed.thumbnails.isEmpty || conditions.isEmpty { return "download the image again\(reason)" }
    return "revalidate with \(conditions)\(reason); a 304 keeps the thumbnails"
  }
}
