internal import CCurl
internal import HTTPTypes

/// The first bytes of a body from an interrupted attempt, if the rest can be requested.
///
/// Bytes of two responses are joined only if both are known to belong to the same representation, byte for byte. That
/// takes a strong validator (RFC 9110, sections 8.8.1 and 13.1.5) and a body without content coding. The server need
/// not support ranges: one without that support ignores the fields and sends the whole body.
struct PartialDownload: Sendable {
  /// The head of the response that the bytes are from, with status 200.
  let head: TransferHead
  /// The bytes received so far, never empty.
  let body: ReceivedBody
  /// The value of `If-Range`.
  let validator: String
  /// The length of the whole body; nil if the server did not declare it.
  let total: Int?

  /// Returns nil if the rest cannot be requested.
  init?(head: TransferHead, body: ReceivedBody) {
    guard body.count > 0, let validator = Self.validator(of: head) else { return nil }
    let total = head.declaredLength
    // The body is complete although the attempt failed: there is no rest to request.
    if let total, body.count >= total { return nil }
    self.head = head
    self.body = body
    self.validator = validator
    self.total = total
  }

  /// Returns true if the rest of an interrupted body of this response can be requested.
  static func isResumable(_ head: TransferHead) -> Bool { validator(of: head) != nil }

  private static func validator(of head: TransferHead) -> String? {
    let fields = head.response.headerFields
    guard head.response.status == .ok, fields[.contentEncoding] == nil,
      fields[.acceptRanges]?.trimmed.lowercased() != "none"
    else { return nil }
    return fields.strongValidator
  }

  /// The header fields that request the rest.
  var requestFields: HTTPFields { [.range: "bytes=\(body.count)-", .ifRange: validator] }

  /// The part of the body that a 206 response contains.
  struct Continuation {
    /// The head of the combined response, with status 200 (RFC 9110, section 15.3.7.3).
    let head: TransferHead
    /// The end of the part, which may be before the end of the body.
    let end: Int
    /// The length of the whole body.
    let total: Int
  }

  /// Returns the position of a 206 response in this body; nil if it is not the missing rest.
  func continuation(by head: TransferHead) -> Continuation? {
    let fields = head.response.headerFields
    guard let range = fields[.contentRange].flatMap({ ContentRange($0) }), range.first == body.count,
      fields[.contentEncoding] == nil, head.finalURL == self.head.finalURL, isSameRepresentation(fields),
      total == nil || range.total == nil || range.total == total
    else { return nil }
    if let length = head.declaredLength, length != range.last + 1 - range.first { return nil }
    let length = total ?? range.total ?? range.last + 1
    return Continuation(head: whole(head, length: length), end: range.last + 1, total: length)
  }

  /// Returns false if the server sent a different validator this time. It need not repeat the validator.
  private func isSameRepresentation(_ fields: HTTPFields) -> Bool {
    let isTag = validator.hasPrefix("\"")
    let repeated = fields[isTag ? .eTag : .lastModified]
    return repeated == nil || repeated?.trimmed == validator
  }

  private func whole(_ rest: TransferHead, length: Int) -> TransferHead {
    var whole = head
    // Both parts may have come through redirects. The combined response is only as fresh as the least fresh of them
    // all.
    whole.redirects += rest.redirects
    whole.isCacheable = head.isCacheable && rest.isCacheable
    whole.isPrivate = head.isPrivate || rest.isPrivate
    for field in rest.response.headerFields { whole.response.headerFields[field.name] = nil }
    whole.response.headerFields.append(contentsOf: rest.response.headerFields)
    whole.response.headerFields[.contentRange] = nil
    whole.response.headerFields[.contentLength] = "\(length)"
    return whole
  }
}

extension HTTPFields {
  /// The validator for requesting a part: a strong entity tag, or, without any tag, a strong modification date (RFC
  /// 9110, section 8.8.2.2), which must be a minute older than the response (RFC 7232), to allow for clocks that
  /// differ. Validators of more than 1 KiB are not used: the next request would be as long.
  var strongValidator: String? {
    if let field = self[.eTag] {
      guard field.utf8.count <= 1024, case let tag = field.trimmed else { return nil }
      return tag.utf8.count > 1 && tag.hasPrefix("\"") && tag.hasSuffix("\"") ? tag : nil
    }
    guard let modified = self[.lastModified]?.trimmed, modified.utf8.count <= 1024, let date = self[.date] else {
      return nil
    }
    let (changed, answered) = (curl_getdate(modified, nil), curl_getdate(date, nil))
    return changed >= 0 && answered >= changed + 60 ? modified : nil
  }
}

/// The `Content-Range` header field of a 206 response (RFC 9110, section 14.4), such as `bytes 200-999/1000`.
struct ContentRange: Equatable {
  /// The position of the first byte, from 0.
  let first: Int
  /// The position of the last byte.
  let last: Int
  /// The length of the whole body; nil for `*`.
  let total: Int?

  /// Returns nil if the value is not a range of bytes or contradicts itself.
  init?(_ value: String) {
    let words = value.trimmed.split(separator: " ")
    guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
    let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
    let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]),
      parts[1] == "*" || Self.number(parts[1]) != nil
    else { return nil }
    self.first = first
    self.last = last
    total = Self.number(parts[1])
    // The count of bytes is one more than the last position, and must not overflow.
    guard first <= last, last < .max, total.map({ last < $0 }) ?? true else { return nil }
  }

  /// Accepts digits only; `Int` alone would accept a sign.
  private static func number(_ text: Substring) -> Int? {
    text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
  }
}
