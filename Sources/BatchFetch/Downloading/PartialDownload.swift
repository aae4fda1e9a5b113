internal import CCurl
internal import HTTPTypes

/// The first bytes of a body whose rest can be asked for: those of an attempt that was interrupted.
///
/// Bytes of two answers make one body only where both are known to be of the same representation, byte by byte. That
/// takes a strong validator (RFC 9110, 8.8.1 and 13.1.5) and a body without content coding. Whether the server does
/// ranges need not be known: `If-Range` makes the question safe, and who does not answers with the whole.
struct PartialDownload: Sendable {
  /// The answer that the bytes are from, as a 200.
  let head: TransferHead
  /// What came so far, never empty.
  let bytes: [UInt8]
  /// The value of `If-Range`.
  let validator: String
  /// The length of the whole body; nil where the server did not tell.
  let total: Int?

  /// Nil where the rest cannot be asked for.
  init?(head: TransferHead, bytes: [UInt8]) {
    let fields = head.response.headerFields
    guard head.response.status == .ok, !bytes.isEmpty, fields[.contentEncoding] == nil,
      fields[.acceptRanges]?.trimmed.lowercased() != "none", let validator = fields.strongValidator
    else { return nil }
    let total = head.declaredLength
    // All of it is there, and yet the attempt failed: there is no rest to ask for, and something is wrong.
    if let total, bytes.count >= total { return nil }
    self.head = head
    self.bytes = bytes
    self.validator = validator
    self.total = total
  }

  /// The fields that ask for the rest.
  var requestFields: HTTPFields { [.range: "bytes=\(bytes.count)-", .ifRange: validator] }

  /// What a 206 brings of the body.
  struct Continuation {
    /// The head of both parts together, as a 200 (RFC 9110, 15.3.7.3).
    let head: TransferHead
    /// Where the part ends, which may be before the end of the body.
    let end: Int
    /// The length of the whole body.
    let total: Int
  }

  /// The place of a 206 in this body; nil where it is not its rest.
  func continuation(by answer: TransferHead) -> Continuation? {
    let fields = answer.response.headerFields
    guard let range = fields[.contentRange].flatMap({ ContentRange($0) }), range.first == bytes.count,
      fields[.contentEncoding] == nil, answer.finalURL == head.finalURL, isSameRepresentation(fields),
      total == nil || range.total == nil || range.total == total
    else { return nil }
    if let length = answer.declaredLength, length != range.last + 1 - range.first { return nil }
    let length = total ?? range.total ?? range.last + 1
    return Continuation(head: whole(answer, length: length), end: range.last + 1, total: length)
  }

  /// A server that repeats its validator must repeat the same.
  private func isSameRepresentation(_ fields: HTTPFields) -> Bool {
    let isTag = validator.hasPrefix("\"")
    let repeated = fields[isTag ? .eTag : .lastModified]
    return repeated == nil || repeated?.trimmed == validator
  }

  private func whole(_ answer: TransferHead, length: Int) -> TransferHead {
    var whole = head
    // Both parts came by redirects, and the whole is as fresh as the least fresh of all.
    whole.redirects += answer.redirects
    whole.isCacheable = head.isCacheable && answer.isCacheable
    for field in answer.response.headerFields { whole.response.headerFields[field.name] = nil }
    whole.response.headerFields.append(contentsOf: answer.response.headerFields)
    whole.response.headerFields[.contentRange] = nil
    whole.response.headerFields[.contentLength] = "\(length)"
    return whole
  }
}

extension HTTPFields {
  /// The value by which a part of the body may be asked for: a strong entity tag; without any tag, a date of change
  /// that is strong (RFC 9110, 8.8.2.2). The minute's distance is that of RFC 7232, for clocks that differ.
  var strongValidator: String? {
    if let tag = self[.eTag]?.trimmed {
      return tag.utf8.count > 1 && tag.hasPrefix("\"") && tag.hasSuffix("\"") ? tag : nil
    }
    guard let modified = self[.lastModified]?.trimmed, let date = self[.date] else { return nil }
    let (changed, answered) = (curl_getdate(modified, nil), curl_getdate(date, nil))
    return changed >= 0 && answered >= changed + 60 ? modified : nil
  }
}
