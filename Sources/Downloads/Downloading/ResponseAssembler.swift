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
  /// to a request for everything. Its start is kept if the rules say so. Reading a few more bytes keeps the connection
  /// usable. Beyond that limit the transfer is given up, and the response counts without the rest.
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
      return FetchFailure(.image(.truncated), "The server sent only part of the missing bytes.")
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
