internal import Foundation
internal import HTTPTypes
internal import ImageCache

/// What comes in during one attempt. A plain value: it joins the answer to the bytes that were there before, and says
/// at the end what the attempt came to.
struct TransferReception {
  /// A whole answer.
  struct Answer: Sendable {
    var head: TransferHead
    var body: [UInt8] = []
    var requestedAt: Date
    var respondedAt: Date
  }

  /// What an attempt came to.
  enum Outcome: Sendable {
    /// A whole answer, or why there is none; and what the next attempt may go on from.
    case ended(Result<Answer, FetchFailure>, kept: PartialDownload?)
    /// The server did not continue what was there. It is dropped: the next attempt asks for the whole.
    case rangeRefused
  }

  private static let maxReserve = 32 << 20

  private let maxBytes: Int
  /// What an earlier attempt left, as long as nothing has replaced it.
  private var partial: PartialDownload?
  private var requestedAt = Date.distantPast
  private var answer: Answer?
  /// How a 206 continues the body.
  private var continuation: PartialDownload.Continuation?
  private var isRangeRefused = false
  /// Bytes of a body that is not kept.
  private var unkeptBytes = 0
  /// The length of the whole body; nil where it is not known. Kept, though it follows from the head: it is asked for with
  /// every piece of the body.
  private(set) var total: Int?

  /// - Parameter partial: what the request asked to continue.
  init(maxBytes: Int, continuing partial: PartialDownload?) {
    self.maxBytes = maxBytes
    self.partial = partial
  }

  /// The request goes out.
  mutating func begin(at date: Date) { requestedAt = date }

  /// The head of the answer.
  mutating func receive(head: TransferHead, at date: Date) throws(FetchFailure) {
    answer = Answer(head: head, requestedAt: requestedAt, respondedAt: date)
    total = head.declaredLength
    switch (head.response.status, partial) {
    case (.partialContent, let partial?): try join(partial, head)
    case (.rangeNotSatisfiable, .some): isRangeRefused = true
    case (.ok, _): partial = nil
    default: break
    }
    guard isBodyKept else { return }
    let expected = total ?? 0
    if expected > maxBytes { throw tooLarge }
    // A server may declare any length: memory is reserved only for a believable one.
    answer?.body.reserveCapacity(max(0, min(expected, Self.maxReserve)))
  }

  /// Bytes of the body; false where they are of no use: those of an error page, or of a part that this side did not ask
  /// for. Reading a little of them keeps the connection; after that, the answer is given up, and good as it is.
  mutating func receive(bytes: UnsafeRawBufferPointer) throws(FetchFailure) -> Bool {
    guard isBodyKept else {
      unkeptBytes += bytes.count
      if isCutShort { throw FetchFailure(.tooLargeBytes, "The rest of the body is of no use.") }
      return false
    }
    answer?.body.append(contentsOf: bytes)
    if body.count > maxBytes { throw tooLarge }
    if let continuation, body.count > continuation.end { throw refuseRange() }
    return true
  }

  /// What came of the body so far, the bytes of earlier attempts included.
  var body: [UInt8] { answer?.body ?? [] }

  /// The attempt is over; `failure` says why the answer is not whole.
  mutating func finish(_ failure: FetchFailure?) -> Outcome {
    if isRangeRefused { return .rangeRefused }
    let answer = answer.take()
    var failure = isCutShort ? nil : failure ?? shortfall(of: answer)
    guard failure != nil else {
      guard let answer else { return .ended(.failure(.noAnswer), kept: partial) }
      return .ended(.success(answer), kept: partial)
    }
    failure?.head = answer?.head
    let kept = answer.flatMap { PartialDownload(head: $0.head, bytes: $0.body) } ?? partial
    return .ended(.failure(failure ?? .noAnswer), kept: kept)
  }

  private var isCutShort: Bool { unkeptBytes > TransferLimits.maxUnwantedBytes }

  private var isBodyKept: Bool { answer?.head.response.status == .ok }

  private mutating func join(_ partial: PartialDownload, _ head: TransferHead) throws(FetchFailure) {
    guard let continuation = partial.continuation(by: head) else { throw refuseRange() }
    answer?.head = continuation.head
    answer?.body = partial.bytes
    self.continuation = continuation
    total = continuation.total
    self.partial = nil
  }

  private mutating func refuseRange() -> FetchFailure {
    isRangeRefused = true
    return FetchFailure(.connectionLost, "The server sent other bytes than those that were missing.")
  }

  /// What is wrong with an answer that came to its end.
  private func shortfall(of answer: Answer?) -> FetchFailure? {
    guard let answer, [.ok, .noContent].contains(answer.head.response.status) else { return nil }
    if answer.body.isEmpty { return FetchFailure(.emptyBody, "The answer has no body.") }
    if let continuation, answer.body.count < continuation.total {
      return FetchFailure(.image(.truncated), "The server sent a part of what was missing.")
    }
    return nil
  }

  private var tooLarge: FetchFailure {
    FetchFailure(.tooLargeBytes, "The body is larger than the limit of \(maxBytes) bytes.")
  }
}

extension FetchFailure {
  fileprivate static let noAnswer = FetchFailure(.connectionLost, "The server gave no answer.")
}
