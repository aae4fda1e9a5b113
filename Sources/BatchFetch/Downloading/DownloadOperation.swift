internal import Foundation
internal import HTTPTypes
internal import Synchronization

/// One download with all its attempts. Waits in the queue of its host, whose width is the limit of that host.
public final class DownloadOperation: AsynchronousOperation, @unchecked Sendable {
  typealias Ending = @Sendable (Result<Download, FetchFailure>) -> Void

  private struct State {
    var download = DownloadState()
    /// What has to be cancelled if the download is.
    var attempt: TransferOperation?
    var pause: Task<Void, Never>?
    var firstAttempt: ContinuousClock.Instant?
    var result: Result<Download, FetchFailure>?
  }

  private let request: DownloadRequest
  private let environment: DownloadEnvironment
  private let ending: Ending
  private let created = ContinuousClock.now
  private let state = Mutex(State())

  /// - Parameter ending: called exactly once, also when the operation is cancelled before it starts.
  init(_ request: DownloadRequest, in environment: DownloadEnvironment, ending: @escaping Ending) {
    self.request = request
    self.environment = environment
    self.ending = ending
    super.init()
    name = request.source.description
  }

  /// What the download came to; nil while it is not finished.
  public var result: Result<Download, FetchFailure>? { state.withLock { $0.result } }

  override func execute() { attempt() }

  override func skip() {
    conclude(.failure(.cancelled))
    finish()
  }

  override func didFinish() { environment.hosts.didLeave(host: request.source.host) }

  /// Ends the download with `cancelled` and closes its connection.
  public override func cancel() {
    super.cancel()
    let (attempt, pause) = state.withLock { ($0.attempt, $0.pause) }
    conclude(.failure(.cancelled))
    attempt?.cancel()
    pause?.cancel()
  }

  /// Makes one attempt, through the queue that limits the transfers at once.
  private func attempt() {
    let attempt = environment.transfer(request) { [weak self] result in self?.attemptEnded(result) }
    attempt.queuePriority = queuePriority
    let isWanted = state.withLock { state in
      guard state.download.beginAttempt() else { return false }
      state.attempt = attempt
      state.firstAttempt = state.firstAttempt ?? .now
      return true
    }
    if isWanted { environment.transfers.addOperation(attempt) }
  }

  private func attemptEnded(_ result: Result<TransferOperation.Answer, FetchFailure>) {
    let retryAfter = result.retryAfter(now: environment.now())
    if let retryAfter { environment.hosts.pause(host: request.source.host, for: retryAfter) }
    let jitter = environment.jitter()
    let step = state.withLock { state in
      state.attempt = nil
      return state.download.endAttempt(
        result.failureCode, retryAfter: retryAfter, policy: environment.retry, jitter: jitter)
    }
    switch step {
    case .ignore: break
    case .conclude: conclude(self.result(of: result))
    case .pause(let pause): wait(pause)
    }
  }

  /// Makes the next attempt after a pause. The operation keeps its place among those of its host meanwhile.
  private func wait(_ pause: Duration) {
    let task = environment.after(pause) { [weak self] in self?.attempt() }
    state.withLock { $0.pause = task }
    // A cancel that came before the task was known has cancelled nothing yet.
    if isCancelled { task.cancel() }
  }

  private func result(of result: Result<TransferOperation.Answer, FetchFailure>) -> Result<Download, FetchFailure> {
    let (attempts, first) = state.withLock { ($0.download.attempts, $0.firstAttempt ?? created) }
    return result.map { answer in
      Download(
        response: answer.head.response, body: answer.body, finalURL: answer.head.finalURL,
        requestedAt: answer.requestedAt, respondedAt: answer.respondedAt, attempts: attempts,
        queued: created.duration(to: first), elapsed: first.duration(to: .now))
    }.mapError { failure in
      var failure = failure
      failure.attempts = attempts
      return failure
    }
  }

  /// Ends the download, once.
  private func conclude(_ result: Result<Download, FetchFailure>) {
    let isFirst = state.withLock { state in
      guard state.download.end() else { return false }
      state.result = result
      return true
    }
    guard isFirst else { return }
    // The result is there before the operation is finished: whoever depends on it finds it.
    finish()
    ending(result)
  }
}

extension Result<TransferOperation.Answer, FetchFailure> {
  /// Why the attempt is not what was hoped for; nil where it is.
  fileprivate var failureCode: FailureCode? {
    switch self {
    case .failure(let failure): failure.code
    case .success(let answer):
      answer.head.response.status.kind == .serverError || answer.head.response.status.kind == .clientError
        ? .http(answer.head.response.status.code) : nil
    }
  }

  fileprivate func retryAfter(now: Date) -> Duration? {
    guard case .success(let answer) = self, [429, 503].contains(answer.head.response.status.code),
      let value = answer.head.response.headerFields[.retryAfter]
    else { return nil }
    return RetryAfter.duration(of: value, now: now)
  }
}
