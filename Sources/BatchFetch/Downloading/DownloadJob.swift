internal import Foundation
internal import Synchronization

/// One download and all its attempts, for all callers of one key. Carries out what its ``DownloadState`` decides: takes
/// and leaves places in the queues, runs transfers, and reports progress and the end to the context.
///
/// A job holds a place at its host until it ends or is paused, and a place among the transfers during an attempt.
final class DownloadJob: Sendable {
  struct State {
    var machine = DownloadState()
    /// Nil while the job waits for dependencies.
    var request: DownloadRequest?
    var hostPlace: QueuePlace?
    var transferPlace: QueuePlace?
    var backoff: Task<Void, Never>?
    /// The response of the running transfer.
    var assembler: ResponseAssembler?
    var round: TokenSlot.Round?
    var isInspected = false
    var throttle: ProgressThrottle
  }

  let generation: UInt64
  let context: DownloadContext
  let transfer = TokenSlot()
  let state: Mutex<State>
  private let created = ContinuousClock.now

  /// The job does nothing before ``begin()``.
  init(generation: UInt64, in context: DownloadContext) {
    self.generation = generation
    self.context = context
    state = Mutex(State(throttle: ProgressThrottle(interval: context.progressInterval)))
  }

  /// The request; nil while the job waits for dependencies.
  var request: DownloadRequest? { state.withLock { $0.request } }

  /// Sets the request, before the job begins.
  func adopt(_ request: DownloadRequest) { state.withLock { $0.request = request } }

  /// Enters the queue of the host, unless all callers have paused.
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
  /// - Parameter outcome: The outcome of the attempt, if the event is the end of one.
  func act(outcome: ResponseAssembler.AttemptOutcome? = nil, _ event: (inout DownloadState) -> DownloadState.Action) {
    let (action, request, effects) = state.withLock { state in
      let action = event(&state.machine)
      return (action, state.request, state.commit(action, of: self))
    }
    effects.perform()
    guard let request else { return }
    switch action {
    case .none, .rest, .backOff, .setPriority: break
    case .enqueue: if let place = effects.entering { context.hosts.add(place, host: request.source.host) }
    case .prepare(let turn): prepare(request, turn)
    case .cancelTransfer: if let round = effects.round { transfer.cancel(round) }
    case .finish: if let outcome { context.ended(self, request, result(of: outcome)) }
    case .abort: transfer.cancel()
    }
  }

  /// Prepares an attempt: waits until the addresses of the host are known and its pace allows another request, then
  /// enters the queue that limits the transfers.
  private func prepare(_ request: DownloadRequest, _ turn: DownloadState.Turn) {
    context.prepare(for: request) { [weak self] failure in
      guard let self else { return }
      if let failure { return fail(failure, in: turn) }
      context.hosts.whenOpen(host: request.source.host) { [weak self] in self?.enterTransfers(turn) }
    }
  }

  fileprivate func hostPlace(
    for request: DownloadRequest, _ turn: DownloadState.Turn, _ priority: Priority
  ) -> QueuePlace {
    let host = request.source.host
    return QueuePlace(priority: priority, onLeave: { [hosts = context.hosts] in hosts.didLeave(host: host) }) {
      [weak self] in self?.prepare(request, turn)
    }
  }

  private func enterTransfers(_ turn: DownloadState.Turn) {
    let place = state.withLock { state -> QueuePlace? in
      guard state.machine.isWaiting(in: turn) else { return nil }
      state.transferPlace = QueuePlace(priority: state.machine.priority) { [weak self] in self?.startTransfer(turn) }
      return state.transferPlace
    }
    if let place { context.transfers.addOperation(place) }
  }

  private func result(of outcome: ResponseAssembler.AttemptOutcome) -> Result<Download, FetchFailure> {
    let (attempts, first) = state.withLock { ($0.machine.attempts, $0.machine.firstAttempt ?? created) }
    guard case .ended(let result, _) = outcome else { return .failure(.cancelled) }
    return result.map { response in
      Download(
        response: response.head.response, body: response.body, finalURL: response.head.finalURL,
        redirects: response.head.redirects, isCacheable: response.head.isCacheable,
        requestedAt: response.requestedAt, respondedAt: response.respondedAt, attempts: attempts,
        queued: created.duration(to: first), elapsed: first.duration(to: .now))
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
    var leaving: [QueuePlace] = []
    var entering: QueuePlace?
    var backoff: Task<Void, Never>?
    var round: TokenSlot.Round?

    func perform() {
      for place in leaving { place.leave() }
      backoff?.cancel()
    }
  }

  /// Updates the places for an action. Called under the lock, so that two threads that change the demand one after the
  /// other change the places in the same order.
  fileprivate mutating func commit(_ action: DownloadState.Action, of job: DownloadJob) -> Effects {
    var effects = Effects()
    switch action {
    case .none, .prepare: break
    case .enqueue(let turn):
      effects = release()
      hostPlace = request.map { job.hostPlace(for: $0, turn, machine.priority) }
      effects.entering = hostPlace
    case .backOff(let pause, let turn):
      backoff = job.context.after(pause) { [weak job] in job?.act { $0.backedOff(in: turn) } }
    case .cancelTransfer: effects.round = round
    case .rest, .finish, .abort: effects = release()
    case .setPriority(let priority):
      hostPlace?.setPriority(priority)
      transferPlace?.setPriority(priority)
    }
    return effects
  }

  /// Gives up all places. A running transfer keeps its own until its connection is closed.
  private mutating func release() -> Effects {
    let places = [hostPlace.take(), assembler == nil ? transferPlace.take() : nil]
    return Effects(leaving: places.compactMap { $0 }, backoff: backoff.take())
  }
}
