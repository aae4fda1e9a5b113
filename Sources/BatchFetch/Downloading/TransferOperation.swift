internal import Foundation
internal import Synchronization

/// One attempt at a download. Runs in the queue whose width is the number of transfers at once.
///
/// Sendable, unchecked, as every `Operation` is: what it adds is constant or inside a `Mutex`.
final class TransferOperation: AsynchronousOperation, TransferReceiver, @unchecked Sendable {
  typealias Ending = @Sendable (TransferReception.Outcome) -> Void
  /// Is told the length of the body so far, and of the whole where it is known.
  typealias Progress = @Sendable (_ received: Int, _ total: Int?) -> Void

  private struct State {
    var transfer: (any Transfer)?
    var reception: TransferReception
    var isJudged = false
    var isOver = false
  }

  private let request: TransferRequest
  private let transport: any Transport
  private let inspection: DownloadRequest.Inspection?
  private let scheduling: DispatchQueue
  private let now: @Sendable () -> Date
  private let progress: Progress
  private let ending: Ending
  private let state: Mutex<State>

  /// - Parameters:
  ///   - partial: what `request` asks to continue.
  ///   - scheduling: where the end is told: the transport's thread has other transfers to go on with.
  ///   - progress: called for each piece of the body, on the transport's thread.
  ///   - ending: called exactly once.
  init(
    _ request: TransferRequest, continuing partial: PartialDownload?, over transport: any Transport,
    inspection: DownloadRequest.Inspection?, scheduling: DispatchQueue, now: @escaping @Sendable () -> Date,
    progress: @escaping Progress, ending: @escaping Ending
  ) {
    self.request = request
    self.transport = transport
    self.inspection = inspection
    self.scheduling = scheduling
    self.now = now
    self.progress = progress
    self.ending = ending
    state = Mutex(
      State(reception: TransferReception(maxBytes: request.limits.maxBytes, continuing: partial)))
  }

  override func execute() {
    let requestedAt = now()
    state.withLock { $0.reception.begin(at: requestedAt) }
    let transfer = transport.start(request, receiver: self)
    state.withLock { $0.transfer = $0.isOver ? nil : transfer }
    // A cancel that came before the transfer was known has cancelled nothing yet.
    if isCancelled { transfer.cancel() }
  }

  override func skip() { end(.cancelled) }

  override func cancel() {
    super.cancel()
    state.withLock { $0.transfer }?.cancel()
  }

  func receive(head: TransferHead) throws(FetchFailure) {
    let respondedAt = now()
    try state.withLock { state throws(FetchFailure) in try state.reception.receive(head: head, at: respondedAt) }
  }

  func receive(bytes: UnsafeRawBufferPointer) throws(FetchFailure) {
    let (isKept, received, total, isJudged) = try state.withLock { state throws(FetchFailure) in
      let isKept = try state.reception.receive(bytes: bytes)
      return (isKept, state.reception.body.count, state.reception.total, state.isJudged)
    }
    guard isKept else { return }
    if let inspection, !isJudged {
      let isJudged = try inspection(state.withLock { $0.reception.body })
      state.withLock { $0.isJudged = isJudged }
    }
    progress(received, total)
  }

  func receiveEnd(_ failure: FetchFailure?) {
    scheduling.async { self.end(failure) }
  }

  private func end(_ failure: FetchFailure?) {
    let outcome = state.withLock { state in
      state.isOver = true
      state.transfer = nil
      return state.reception.finish(failure)
    }
    finish()
    ending(outcome)
  }
}
