import Foundation
import ImageCache

/// What `cache show` says of a source. Its JSON is that of the properties: fields may be added, none changes.
struct ShownSource: Encodable {
  struct Thumbnail: Encodable {
    let spec, format: String
    let width, height, bytes: Int
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
  let explanation: Explanation?

  init(_ listed: ListedSource, explains: Bool, showsFullURL: Bool, now: Date) {
    let source = listed.source
    let shown = { (url: String) in CacheText.field(showsFullURL ? url : CacheText.redacted(url)) }
    (key, state, status) = (listed.key.description, listed.state(at: now).rawValue, source.status)
    (url, finalURL) = (shown(source.url), source.finalURL.map(shown))
    (bytes, lastUsed) = (listed.bytes, listed.lastUsed)
    thumbnails = listed.thumbnails.sorted { $0.bytes < $1.bytes }.map {
      Thumbnail(
        spec: $0.label, format: $0.format.rawValue, width: $0.size.width, height: $0.size.height, bytes: $0.bytes)
    }
    switch source.content {
    case .picture(let image, let digest, let bytes):
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

  /// What a request would do now.
  private static func next(_ listed: ListedSource, _ policy: CachePolicy.Explanation) -> String {
    let isFresh = policy.state == .fresh
    if case .failure(let code, _, _) = listed.source.content {
      return isFresh ? "fail with \(code), without asking the server" : "ask the server again"
    }
    guard !isFresh else { return "serve what is here, without asking the server" }
    let why = policy.isFromTheFuture ? "the clock was moved back, so " : ""
    let validators = [
      policy.entityTag.map { _ in "If-None-Match" }, policy.lastModified.map { _ in "If-Modified-Since" },
    ]
    let conditions = validators.compactMap { $0 }.joined(separator: " and ")
    if listed.thumbnails.isEmpty || conditions.isEmpty { return why + "download it again" }
    return why + "ask the server with \(conditions); a 304 keeps the thumbnails"
  }
}

extension ShownSource {
  /// Lines for people.
  var table: String {
    var lines = ["\(key)  \(url)"]
    if let finalURL { lines.append("  came from    \(finalURL)") }
    lines.append("  answer       \(status), \(content)")
    lines.append("  state        \(state), last used \(CacheText.time(lastUsed))")
    for thumbnail in thumbnails {
      let spec = thumbnail.spec.padding(toLength: max(11, thumbnail.spec.count), withPad: " ", startingAt: 0)
      let size = "\(thumbnail.width)x\(thumbnail.height)"
      lines.append("  thumbnail    \(spec)  \(size) \(thumbnail.format), \(CacheText.size(thumbnail.bytes))")
    }
    return (lines + (explanation?.lines ?? [])).map(CacheText.field).joined(separator: "\n")
  }

  private var content: String {
    if let code { return "\(code): \(message ?? "")" }
    return "\(format ?? "") \(width ?? 0)x\(height ?? 0), \(CacheText.size(sourceBytes ?? 0))"
  }

  /// Names in one line, values in the next.
  var separated: String {
    let columns: [(String, String)] = [
      ("key", key), ("state", state), ("status", "\(status)"), ("bytes", "\(bytes)"),
      ("lastUsed", CacheText.time(lastUsed)), ("thumbnails", thumbnails.map(\.spec).joined(separator: ",")),
      ("code", code ?? ""), ("url", url),
    ]
    return [columns.map(\.0), columns.map { CacheText.field($0.1) }].map { $0.joined(separator: "\t") }.joined(
      separator: "\n")
  }
}

extension ShownSource.Explanation {
  fileprivate var lines: [String] {
    let received = [
      cacheControl.map { "Cache-Control: \($0)" }, etag.map { "ETag: \($0)" },
      lastModified.map { "Last-Modified: \($0)" }, vary.map { "Vary: \($0)" },
    ]
    return [
      "  answered     \(CacheText.time(respondedAt)), age \(age) s of \(lifetime) s (\(basis))",
      "  fresh until  \(freshUntil.map(CacheText.time) ?? "never: validated on every use")",
      "  on errors    \(staleOnErrorUntil.map { "may stand in until " + CacheText.time($0) } ?? "never stands in")",
      "  received     \(received.compactMap { $0 }.joined(separator: "; "))",
      "  a request now would \(next)",
    ]
  }
}
