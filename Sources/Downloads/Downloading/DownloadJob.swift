internal import Foundation
internal import HTTPTypes
internal import Synchronization

/// One download and all its attempts, for all callers of one key. Carries out what its ``DownloadState`` decides: takes
/// and leaves its place in the queue, runs transfers, and reports progress and the end to the context.
package final class DownloadJob: Sendable {
  struct State {
    var machine = DownloadState()
    /// Nil while the job waits for dependencies.
    var request: DownloadRequest?
    /// The redirects of the current attempt; nil until the job enters the queue.
    var trail: RedirectTrail?
    /// The redirects of the current attempt including one that is not followed yet.
    var redirected: RedirectTrail?
    /// The attempt as the modifier has changed it; nil before that, and without a modifier.
    var modified: RequestAttempt?
    /// The running call of the modifier.
    var modification: WorkHandle?
    /// The place in the queue; nil while the job is not in the queue.
    var ticket: TransferQueue.Ticket?
    var backoff: Task<Void, Never>?
    /// The response of the running transfer.
    var assembler: ResponseAssembler?
    var round: TokenSlot.Round?
    /// The time when the running transfer started.
    var started = ContinuousClock.now
    /// The time that the earlier transfers of the attempt took.
    var elapsed = Duration.zero
    /// The result of the last attempt.
    var lastResult: Result<ResponseAssembler.Response, FetchFailure>?
    var inspections = InspectionPace()
    /// The permission of the last transfer to write the file of the request.
    var writer: PartFile.Writer?
    var throttle: ProgressThrottle
  }

  let id: DownloadContext.Table.JobID
  let context: DownloadContext
  let transfer = TokenSlot()
  let state: Mutex<State>
  private let created = ContinuousClock.now

  /// The job does nothing before ``begin()``.
  init(id: DownloadContext.Table.JobID, in context: DownloadContext) {
    self.id = id
    self.context = context
    state = Mutex(State(throttle: ProgressThrottle(interval: context.progressInterval)))
  }

  /// The request; nil while the job waits for dependencies.
  var request: DownloadRequest? { state.withLock { $0.request } }

  /// Sets the request, before the job begins.
  func adopt(_ request: DownloadRequest) { state.withLock { $0.request = request } }

  /// Enters the queue, unless all callers have paused.
  func begin() { act { $0.begin() } }

  /// Follows the demand of the callers.
  func change(to demand: JointDemand) { act { $0.change(to: demand) } }

  /// Ends the download. The job must have left the table: its callers have their ends already.
  func cancel() { act { $0.cancel() } }

  /// Reports progress from now on. Returns the progress so far.
  func watch() -> DownloadProgress? { state.withLock { $0.throttle.watch() } }

  // MARK: Effects

  /// Reports an event to the machine, and carries out the action that follows.
  ///
  /// - Parameters:
  ///   - result: the result of the download, if the event may end it.
  ///   - event: the event.
  func act(
    _ result: Result<ResponseAssembler.Response, FetchFailure>? = nil,
    _ event: (inout DownloadState) -> DownloadState.Action
  ) {
    let (action, request, effects) = state.withLock { state in
      let action = event(&state.machine)
      return (action, state.request, state.commit(action, of: self))
    }
    effects.perform(in: context.queue)
    guard let request else { return }
    switch action {
    case .none, .rest, .backOff, .setPriority: break
    case .enqueue(let turn): enqueue(turn)
    case .cancelTransfer: if let round = effects.round { transfer.cancel(round) }
    case .finish: finish(request, result ?? .failure(.cancelled))
    case .abort:
      transfer.cancel()
      releaseFile()
    }
  }

  private func releaseFile() {
    if let writer = state.withLock({ $0.writer }) { writer.file.release(by: writer) }
  }

  private func finish(_ request: DownloadRequest, _ result: Result<ResponseAssembler.Response, FetchFailure>) {
    guard let part = request.part else { return context.ended(self, request, download(result, of: request)) }
    // Checking a file takes time, and the thread that ends transfers has others to serve.
    context.callbacks.async { [self] in
      let download = download(result, in: part)
      releaseFile()
      context.ended(self, request, download)
    }
  }

  private func download(
    _ result: Result<ResponseAssembler.Response, FetchFailure>, in part: PartFile
  ) -> Result<Download, FetchFailure> {
    download(result).flatMap { download in
      guard case .success(let response) = result, response.head.response.status == .ok else {
        return .failure(FetchFailure(statusOf: download, now: context.now()))
      }
      do throws(FetchFailure) {
        var complete = download
        complete.file = try part.commit(length: response.body.count)
        return .success(complete)
      } catch {
        var failure = error
        (failure.head, failure.attempts) = (download.head, download.attempts)
        return .failure(failure)
      }
    }
  }

  /// Returns the outcome for a body in memory: a status that the request does not accept is a failure.
  private func download(
    _ result: Result<ResponseAssembler.Response, FetchFailure>, of request: DownloadRequest
  ) -> Result<Download, FetchFailure> {
    let fields = state.withLock { $0.sentRequest?.headerFields } ?? request.headerFields
    return download(result).flatMap { download in
      let status = download.response.status.code
      if download.isTargetReused || request.responses.accepts(status, of: fields) {
        return .success(download)
      }
      return .failure(FetchFailure(statusOf: download, now: context.now()))
    }
  }

  private func download(
    _ result: Result<ResponseAssembler.Response, FetchFailure>
  ) -> Result<Download, FetchFailure> {
    let (attempts, first) = state.withLock { ($0.machine.attempts, $0.machine.firstAttempt ?? created) }
    return result.map { response in
      var download = Download(
        response: response.head.response, body: response.body.bytes, finalURL: response.head.finalURL,
        redirects: response.head.redirects, isCacheable: response.head.isCacheable,
        isPrivate: response.head.isPrivate, requestedAt: response.requestedAt, respondedAt: response.respondedAt,
        attempts: attempts, queued: created.duration(to: first), elapsed: first.duration(to: .now))
      download.isTargetReused = response.head.isTargetReused
      return download
    }.mapError { failure in
      var failure = failure
      failure.attempts = attempts
      return failure
    }
  }
}

extension DownloadJob.State {
  /// The part of an action that is prepared under the lock and carried out after unlocking.
  struct Effects {
    var queue: TransferQueue.Effects?
    var backoff: Task<Void, Never>?
    var modification: WorkHandle?
    var round: TokenSlot.Round?

    func perform(in queue: TransferQueue) {
      if let effects = self.queue { queue.perform(effects) }
      backoff?.cancel()
      modification?.cancel()
    }
  }

  /// Updates the place in the queue for an action. Called under the lock, so that two threads that change the demand
  /// one after the other change the place in the same order.
  fileprivate mutating func commit(_ action: DownloadState.Action, of job: DownloadJob) -> Effects {
    switch action {
    case .none: return Effects()
    case .enqueue:
      advanceTrail(in: job.context)
      return Effects()
    case .backOff(let pause, let turn):
      backoff = job.context.after(pause) { [weak job] in job?.act { $0.backedOff(in: turn) } }
      return Effects()
    case .cancelTransfer: return Effects(round: round)
    case .rest, .finish, .abort: return release(job.context.queue)
    case .setPriority(let priority):
      return Effects(queue: ticket.map { job.context.queue.change($0, to: priority) })
    }
  }

  /// Sets the URL of the next transfer: the target of a redirect, or the URL of the request for a new attempt.
  private mutating func advanceTrail(in context: DownloadContext) {
    let next = redirected.take()
    if machine.isRedirected, next != nil {
      trail = next
    } else {
      trail = request.map { RedirectTrail(from: $0.source, limit: context.limits(of: $0).maxRedirects) }
      elapsed = .zero
      modified = nil
    }
  }

  /// Gives up the place in the queue. A running transfer keeps it until its connection is closed.
  private mutating func release(_ queue: TransferQueue) -> Effects {
    let place = assembler == nil ? ticket.take() : nil
    return Effects(
      queue: place.map { queue.remove($0) }, backoff: backoff.take(), modification: modification.take())
  }
}
