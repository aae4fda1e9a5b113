internal import CCurl
internal import Foundation
internal import HTTPTypes

/// Assembles the response of one attempt from the head and the bytes of a transfer. A plain value.
///
/// If the attempt continues an interrupted one, it joins the new bytes to those that were kept, and never joins bytes
/// of different versions.
struct ResponseAssembler {
  /// A complete response.
  struct Response: Sendable {
    var head: TransferHead
    var body: ReceivedBody
    var requestedAt: Date
    var respondedAt: Date
  }

  /// The outcome of an attempt.
  enum AttemptOutcome: Sendable {
    /// A complete response or a failure, and the bytes that the next attempt may continue.
    case ended(Result<Response, FetchFailure>, kept: PartialDownload?)
    /// The server did not continue the bytes that were kept. They are dropped: the next attempt downloads everything.
    case rangeRefused
  }

  private static let maxReserve = 32 << 20

  private let maxBytes: Int
  /// True if the start of a body that is larger than `maxBytes` counts as the body.
  private let keepsStart: Bool
  /// The rules that decide which bodies are kept.
  private let rules: ResponseRules
  /// The header fields of the request, on which the rules depend.
  private let fields: HTTPFields
  /// The bytes of an earlier attempt, until a response replaces them.
  private var partial: PartialDownload?
  /// The empty body of the next response.
  private let empty: ReceivedBody
  private let requestedAt: Date
  private var response: Response?
  /// The part of the body that a 206 contains.
  private var continuation: PartialDownload.Continuation?
  private var isRangeRefused = false
  /// True if the body is kept. Stored, because it is needed with every piece of the body.
  private var isBodyKept = false
  /// The number of bytes received of a body that is not kept, or only its start.
  private var unkeptBytes = 0
  /// The length of the whole body; nil if it is unknown. Stored, although it follows from the head: it is needed with
  /// every piece of the body.
  private(set) var total: Int?

  /// - Parameters:
  ///   - maxBytes: The maximum length of the body, in bytes.
  ///   - keepsStart: True to cut off a larger body instead of failing with `too_large_bytes`.
  ///   - rules: The rules for statuses and bodies.
  ///   - fields: The header fields of the request.
  ///   - partial: The bytes that the server should continue.
  ///   - body: The empty body, in memory by default.
  ///   - requestedAt: The time of the request.
  init(
    maxBytes: Int, keepsStart: Bool = false, rules: ResponseRules = .image, fields: HTTPFields = [:],
    continuing partial: PartialDownload?, body: ReceivedBody = ReceivedBody(), requestedAt: Date
  ) {
    self.maxBytes = maxBytes
    self.keepsStart = keepsStart
    self.rules = rules
    self.fields = fields
    self.partial = partial
    empty = body
    self.requestedAt = requestedAt
  }

  /// Adds the head of the response.
  mutating func receive(head: TransferHead, at date: Date) throws(FetchFailure) {
    response = Response(head: head, body: empty, requestedAt: requestedAt, respondedAt: date)
    total = head.declaredLength
    switch (head.response.status, partial) {
    case (.partialContent, let partial?): try join(partial, head)
    case (.rangeNotSatisfiable, .some): isRangeRefused = true
    case (.ok, _):
      partial = nil
      try response?.body.begin(head)
    default: break
    }
    isBodyKept = (response?.head.response.status.code).map { rules.keepsBody($0, of: fields) } ?? false
    // The start of an error page is kept in memory, never in the file of a download.
    guard isBodyKept else {
      response?.body = ReceivedBody()
      return
    }
    let expected = total ?? 0
    if expected > maxBytes, !keepsStart { throw tooLarge }
    // A server may declare any length. Memory is reserved only up to a plausible one.
    response?.body.reserve(max(0, min(expected, maxBytes, Self.maxReserve)))
  }

  /// Adds bytes of the body. Returns false if they are not needed: the body of an error response, or a partial response
  /// to a request for everything. Its start is kept if the rules say so. Such a body is read up to
  /// ``TransferLimits/maxUnwantedBytes``, so that the connection stays usable. Beyond that this throws, and the
  /// response still counts.
  mutating func receive(bytes: UnsafeRawBufferPointer) throws(FetchFailure) -> Bool {
    guard isBodyKept else {
      try keepStart(of: bytes)
      if isCutShort { throw FetchFailure(.tooLargeBytes, "The rest of the body is not needed.") }
      return false
    }
    try response?.body.append(bytes)
    if count > maxBytes { throw tooLarge }
    if let continuation, count > continuation.end { throw refuseRange() }
    return true
  }

  /// The body in memory so far, including the bytes of earlier attempts.
  var body: [UInt8] { response?.body.bytes ?? [] }

  /// The length of the body so far, in memory or in a file.
  var count: Int { response?.body.count ?? 0 }

  /// Ends the attempt, with the failure of the transfer if it had one.
  mutating func finish(_ failure: FetchFailure?) -> AttemptOutcome {
    if isRangeRefused { return .rangeRefused }
    let (isCutShort, response) = (isCutShort, response.take())
    var failure = isCutShort ? nil : failure ?? shortfall(of: response)
    guard failure != nil else {
      guard let response else { return .ended(.failure(.noResponse), kept: partial) }
      return .ended(.success(response), kept: partial)
    }
    failure?.head = response?.head
    let kept = response.flatMap { PartialDownload(head: $0.head, body: $0.body) } ?? partial
    return .ended(.failure(failure ?? .noResponse), kept: kept)
  }

  private mutating func keepStart(of bytes: UnsafeRawBufferPointer) throws(FetchFailure) {
    unkeptBytes += bytes.count
    let room = max(0, rules.maxErrorBytes - count)
    if room > 0 { try response?.body.append(UnsafeRawBufferPointer(rebasing: bytes.prefix(room))) }
  }

  private var isCutShort: Bool {
    unkeptBytes > max(TransferLimits.maxUnwantedBytes, rules.maxErrorBytes) || (keepsStart && count > maxBytes)
  }

  private mutating func join(_ partial: PartialDownload, _ head: TransferHead) throws(FetchFailure) {
    guard let continuation = partial.continuation(by: head) else { throw refuseRange() }
    response?.head = continuation.head
    response?.body = partial.body.continued(by: empty)
    self.continuation = continuation
    total = continuation.total
    self.partial = nil
  }

  private mutating func refuseRange() -> FetchFailure {
    isRangeRefused = true
    return FetchFailure(.connectionLost, "The server sent a different range than requested.")
  }

  /// Returns the failure of a response that ended too early or has no body.
  private func shortfall(of response: Response?) -> FetchFailure? {
    guard let response, [.ok, .noContent].contains(response.head.response.status) else { return nil }
    // A file may be empty.
    if rules.emptyBodies == .refused, response.body.count == 0, empty.writer == nil || total ?? 1 > 0 {
      return FetchFailure(.emptyBody, "The response has no body.")
    }
    if let continuation, response.body.count < continuation.total {
      return FetchFailure(.truncated, "The server sent only part of the missing bytes.")
    }
    return nil
  }

  private var tooLarge: FetchFailure {
    FetchFailure(.tooLargeBytes, "The body is larger than the limit of \(maxBytes) bytes.")
  }
}

extension FetchFailure {
  fileprivate static let noResponse = FetchFailure(.connectionLost, "The server did not respond.")
}

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
