internal import Foundation
internal import HTTPTypes
internal import Synchronization

/// One attempt at a download. Runs in the queue whose width is the number of transfers at once.
final class TransferOperation: AsynchronousOperation, TransferReceiver, @unchecked Sendable {
  /// What an attempt brought: a whole answer.
  struct Answer: Sendable {
    var head: TransferHead
    var body: [UInt8] = []
    var requestedAt: Date
    var respondedAt: Date
  }

  typealias Ending = @Sendable (Result<Answer, FetchFailure>) -> Void

  private struct State {
    var transfer: (any Transfer)?
    var requestedAt = Date.distantPast
    var answer: Answer?
    var isJudged = false
    var isOver = false
  }

  private let request: TransferRequest
  private let transport: any Transport
  private let inspection: DownloadRequest.Inspection?
  private let now: @Sendable () -> Date
  private let ending: Ending
  private let state = Mutex(State())

  init(
    _ request: TransferRequest, over transport: any Transport, inspection: DownloadRequest.Inspection?,
    now: @escaping @Sendable () -> Date, ending: @escaping Ending
  ) {
    self.request = request
    self.transport = transport
    self.inspection = inspection
    self.now = now
    self.ending = ending
  }

  override func execute() {
    let requestedAt = now()
    state.withLock { $0.requestedAt = requestedAt }
    let transfer = transport.start(request, receiver: self)
    state.withLock { $0.transfer = $0.isOver ? nil : transfer }
    // A cancel that came before the transfer was known has cancelled nothing yet.
    if isCancelled { transfer.cancel() }
  }

  override func skip() { receiveEnd(.cancelled) }

  override func cancel() {
    super.cancel()
    state.withLock { $0.transfer }?.cancel()
  }

  func receive(head: TransferHead) throws(FetchFailure) {
    if let length = head.declaredLength, length > request.limits.maxBytes { throw tooLarge }
    let respondedAt = now()
    state.withLock { state in
      state.answer = Answer(head: head, requestedAt: state.requestedAt, respondedAt: respondedAt)
      if head.response.status == .ok { state.answer?.body.reserveCapacity(head.declaredLength ?? 0) }
    }
  }

  func receive(bytes: UnsafeRawBufferPointer) throws(FetchFailure) {
    // The body of an error page is of no use, but reading a little of it keeps the connection.
    guard let body = state.withLock({ $0.answer?.keep(bytes) }) else { return }
    if body.count > request.limits.maxBytes { throw tooLarge }
    guard let inspection, !state.withLock({ $0.isJudged }) else { return }
    let isJudged = try inspection(body)
    state.withLock { $0.isJudged = isJudged }
  }

  func receiveEnd(_ failure: FetchFailure?) {
    let answer = state.withLock { state in
      state.isOver = true
      state.transfer = nil
      return state.answer.take()
    }
    finish()
    ending(Self.result(answer, failure))
  }

  private static func result(_ answer: Answer?, _ failure: FetchFailure?) -> Result<Answer, FetchFailure> {
    if var failure {
      failure.response = answer?.head.response
      return .failure(failure)
    }
    guard let answer else { return .failure(FetchFailure(.connectionLost, "The server gave no answer.")) }
    let status = answer.head.response.status
    guard status != .noContent, status != .ok || !answer.body.isEmpty else {
      return .failure(FetchFailure(.emptyBody, "The answer has no body.", httpStatus: status.code))
    }
    return .success(answer)
  }

  private var tooLarge: FetchFailure {
    FetchFailure(.tooLargeBytes, "The body is larger than the limit of \(request.limits.maxBytes) bytes.")
  }
}

extension TransferOperation.Answer {
  /// Adds to the body of a 200; nil where the answer is another.
  fileprivate mutating func keep(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
    guard head.response.status == .ok else { return nil }
    body.append(contentsOf: bytes)
    return body
  }
}
