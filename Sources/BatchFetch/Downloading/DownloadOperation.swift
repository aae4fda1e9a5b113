internal import Foundation
internal import HTTPTypes
internal import Synchronization

/// One download with all its attempts. Waits in the queue of its host, whose width is the limit of that host.
///
/// Sendable, unchecked, as every `Operation` is: what it adds is constant or inside a `Mutex`.
final class DownloadOperation: AsynchronousOperation, @unchecked Sendable {
  /// How an operation ends.
  enum Ending: Sendable {
    case finished(Result<Download, FetchFailure>)
    /// The download is paused. Another operation goes on from here: a paused download takes nobody's place.
    case paused(DownloadState)
  }

  private struct State {
    var download: DownloadState
    /// What has to be cancelled if the download is.
    var attempt: TransferOperation?
    var pause: Task<Void, Never>?
  }

  private let request: DownloadRequest
  private let environment: DownloadEnvironment
  private let progress: DownloadProgress.Handler
  private let ending: @Sendable (Ending) -> Void
  private let created: ContinuousClock.Instant
  private let state: Mutex<State>

  /// - Parameters:
  ///   - download: what earlier operations left of it.
  ///   - created: since when the download is wanted.
  ///   - progress: called for each piece of the body, on the transport's thread.
  ///   - ending: called exactly once, also when the operation is cancelled before it starts.
  init(
    _ request: DownloadRequest, from download: DownloadState, created: ContinuousClock.Instant,
    in environment: DownloadEnvironment, progress: @escaping DownloadProgress.Handler,
    ending: @escaping @Sendable (Ending) -> Void
  ) {
    self.request = request
    self.environment = environment
    self.created = created
    self.progress = progress
    self.ending = ending
    state = Mutex(State(download: download))
    super.init()
    name = request.source.description
  }

  override func execute() { attempt() }

  override func skip() {
    conclude(.failure(.cancelled))
    finish()
  }

  override func didFinish() { environment.hosts.didLeave(host: request.source.host) }

  /// Ends the download with `cancelled` and closes its connection.
  override func cancel() {
    // First of all: a queue that starts it right now must see that, or find it finished.
    super.cancel()
    conclude(.failure(.cancelled))
    cancelWork()
  }

  /// Ends the operation with what there is so far, and closes its connection.
  func pause() {
    switch state.withLock({ $0.download.stop() }) {
    case .ignore: break
    case .cancelAttempt: state.withLock { $0.attempt }?.cancel()
    case .rest:
      super.cancel()
      cancelWork()
      rest()
    }
  }

  /// Changes its place among those that wait, for the host or for a transfer.
  func setPriority(_ priority: ThumbnailRequest.Priority) {
    // Inside the lock: an attempt that begins meanwhile must not miss it.
    state.withLock { state in
      guard queuePriority != priority.queuePriority else { return }
      queuePriority = priority.queuePriority
      state.attempt?.queuePriority = priority.queuePriority
    }
  }

  private func cancelWork() {
    let (attempt, pause) = state.withLock { ($0.attempt, $0.pause) }
    attempt?.cancel()
    pause?.cancel()
  }

  /// Makes one attempt, as soon as the host is found and may be asked, through the queue that limits the transfers at
  /// once.
  private func attempt() {
    environment.prepare(for: request) { [weak self] failure in
      guard let self else { return }
      if let failure { return fail(failure) }
      environment.hosts.whenOpen(host: request.source.host) { [weak self] in self?.attemptNow() }
    }
  }

  /// An attempt that failed before its transfer.
  private func fail(_ failure: FetchFailure) {
    guard let attempt = state.withLock({ $0.download.beginAttempt() }) else { return }
    attemptEnded(.ended(.failure(failure), kept: attempt.partial))
  }

  private func attemptNow() {
    let attempt = state.withLock { state -> TransferOperation? in
      guard let begun = state.download.beginAttempt() else { return nil }
      let attempt = transfer(begun)
      attempt.queuePriority = queuePriority
      state.attempt = attempt
      return attempt
    }
    if let attempt { environment.transfers.addOperation(attempt) }
  }

  private func transfer(_ attempt: DownloadState.Attempt) -> TransferOperation {
    environment.transfer(
      request, continuing: attempt.partial,
      progress: { [progress] received, total in
        progress(DownloadProgress(attempt: attempt.number, received: received, total: total))
      }, ending: { [weak self] in self?.attemptEnded($0) })
  }

  private func attemptEnded(_ outcome: TransferReception.Outcome) {
    let retryAfter = outcome.retryAfter(now: environment.now())
    if let status = outcome.status {
      environment.hosts.didAnswer(host: request.source.host, isRefusal: status.isRefusal, retryAfter: retryAfter)
    }
    let ending = outcome.ending(isKept: request.isResumable)
    let step = state.withLock { state in
      state.attempt = nil
      return state.download.endAttempt(
        ending, retryAfter: retryAfter, policy: environment.retry, jitter: environment.jitter())
    }
    switch step {
    case .ignore: break
    case .conclude: if case .ended(let result, _) = outcome { conclude(self.result(of: result)) }
    case .retry(let pause): retry(after: pause)
    case .rest: rest()
    }
  }

  /// Makes the next attempt after a pause. The operation keeps its place among those of its host meanwhile.
  private func retry(after pause: Duration) {
    guard pause > .zero else { return attempt() }
    let task = environment.after(pause) { [weak self] in self?.attempt() }
    state.withLock { $0.pause = task }
    // A cancel that came before the task was known has cancelled nothing yet.
    if isCancelled { task.cancel() }
  }

  private func result(
    of result: Result<TransferReception.Answer, FetchFailure>
  ) -> Result<Download, FetchFailure> {
    let (attempts, first) = state.withLock { ($0.download.attempts, $0.download.firstAttempt ?? created) }
    return result.map { answer in
      Download(
        response: answer.head.response, body: answer.body, finalURL: answer.head.finalURL,
        redirects: answer.head.redirects, isCacheable: answer.head.isCacheable,
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
    guard state.withLock({ $0.download.end() }) else { return }
    finish()
    ending(.finished(result))
  }

  /// Ends the operation, and not the download.
  private func rest() {
    finish()
    ending(.paused(state.withLock { $0.download.resumed() }))
  }
}
