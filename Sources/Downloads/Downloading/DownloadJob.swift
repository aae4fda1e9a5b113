internal import Foundation
internal import HTTPTypes
internal import Synchronization

/// One download and all its attempts, for all callers of one key. Carries out what its ``DownloadState`` decides: takes
/// and leaves its place in the queue, runs transfers, and reports progress and the end to the context.
package final class DownloadJob: Sendable {
  struct State {
    var machine = DownloadState()
    /// The redirects of the current attempt; nil until the job enters the queue.
    var trail: RedirectChain?
    /// The redirects of the current attempt including one that is not followed yet.
    var redirected: RedirectChain?
    /// The attempt as the modifier has changed it; nil before that, and without a modifier.
    var modified: RequestAttempt?
    /// The running call of the modifier.
    var modification: WorkHandle?
    /// The place in the queue; nil while the job is not in the queue.
    var ticket: TransferQueue.Ticket?
    var backoff: Task<Void, Never>?
    /// The response of the running transfer.
    var assembler: ResponseAssembler?
    var round: TaskHandleSlot.Round?
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

  let request: DownloadRequest
  let id: DownloadContext.Table.JobID
  let context: DownloadContext
  let transfer = TaskHandleSlot()
  let state: Mutex<State>
  private let created = ContinuousClock.now

  /// The job does nothing before ``begin()``.
  init(_ request: DownloadRequest, id: DownloadContext.Table.JobID, in context: DownloadContext) {
    self.request = request
    self.id = id
    self.context = context
    state = Mutex(State(throttle: ProgressThrottle(interval: context.progressInterval)))
  }

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
    let (action, effects) = state.withLock { state in
      let action = event(&state.machine)
      return (action, state.commit(action, of: self))
    }
    effects.perform(in: context.queue)
    switch action {
    case .none, .rest, .backOff, .setPriority: break
    case .enqueue(let turn): enqueue(turn)
    case .cancelTransfer: if let round = effects.round { transfer.cancel(round) }
    case .finish: finish(result ?? .failure(.cancelled))
    case .abort:
      transfer.cancel()
      releaseFile()
    }
  }

  fileprivate func releaseFile() {
    if let writer = state.withLock({ $0.writer }) { writer.file.release(by: writer) }
  }
}

extension DownloadJob.State {
  /// The part of an action that is prepared under the lock and carried out after unlocking.
  struct Effects {
    var queue: TransferQueue.Effects?
    var backoff: Task<Void, Never>?
    var modification: WorkHandle?
    var round: TaskHandleSlot.Round?

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
      advanceTrail(of: job)
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
  private mutating func advanceTrail(of job: DownloadJob) {
    let next = redirected.take()
    if machine.isRedirected, next != nil {
      trail = next
    } else {
      trail = RedirectChain(from: job.request.source, limit: job.context.limits(of: job.request).maxRedirects)
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

// MARK: Queue

// The queue of a transfer: robots, preparation, start.
extension DownloadJob {
  /// Enters the queue of the host, if that permits the request.
  func enqueue(_ turn: DownloadState.Turn) {
    guard let trail = state.withLock({ $0.trail }) else { return }
    let hop = trail.hop
    guard let robots = context.robots, !request.isRobotsFile else { return enter(hop, turn) }
    let (userAgent, limits) = (context.userAgent(of: request, to: trail), context.limits(of: request))
    robots.check(hop, userAgent: userAgent, addresses: limits.addresses) { [self] failure in
      if let failure { refuse(failure, in: turn) } else { enter(hop, turn) }
    }
  }

  /// Takes a place in the queue, unless the download has given up this turn.
  private func enter(_ hop: SourceURL, _ turn: DownloadState.Turn) {
    let isModified = request.modifier == nil || state.withLock { $0.modified != nil || $0.machine.isRedirected }
    let isPrepared = isModified && context.isPrepared(request, to: hop)
    let effects = state.withLock { state -> TransferQueue.Effects? in
      guard state.machine.isWaiting(in: turn) else { return nil }
      // The queue keeps the job while it has a ticket: thread A may have decided to start the transfer when the last
      // caller leaves on thread B, and nobody else could give the place back then.
      let (ticket, effects) = context.queue.add(
        to: hop.host, state.machine.priority, isPrepared: isPrepared
      ) { [self] in
        handle($0, hop, turn)
      }
      state.ticket = ticket
      return effects
    }
    if let effects { context.queue.perform(effects) }
  }

  private func handle(
    _ event: TransferQueue.Event, _ hop: SourceURL, _ turn: DownloadState.Turn
  ) {
    switch event {
    case .prepare(let ticket):
      modify(turn) { [weak self] failure in
        guard let self else { return }
        if let failure { fail(failure, ticket, turn, .abandoned) } else { prepare(hop, ticket, turn) }
      }
    case .start(let ticket): startTransfer(turn, ticket)
    case .refuse(let refusal): refuse(context.failure(of: hop.host, refusal), in: turn)
    }
  }

  private func prepare(
    _ hop: SourceURL, _ ticket: TransferQueue.Ticket, _ turn: DownloadState.Turn
  ) {
    context.prepare(request, to: hop) { [weak self] failure in
      guard let self else { return }
      guard let failure else { return context.queue.prepared(ticket) }
      fail(failure, ticket, turn, failure.isUnreachable ? .unreachable : .abandoned)
    }
  }

  /// Ends an attempt whose preparation failed.
  private func fail(
    _ failure: FetchFailure, _ ticket: TransferQueue.Ticket, _ turn: DownloadState.Turn,
    _ contact: TransferScheduler.Contact
  ) {
    let attempt = state.withLock { state in
      let attempt = state.machine.attempt(in: turn)
      if attempt != nil { state.ticket = nil }
      return attempt
    }
    context.queue.end(ticket, contact)
    if let attempt { attemptEnded(.ended(.failure(failure), kept: attempt.partial)) }
  }

  /// Ends a download whose request is not sent. If earlier attempts have failed, the result of the last one says more.
  private func refuse(_ failure: FetchFailure, in turn: DownloadState.Turn) {
    let last = state.withLock { $0.lastResult }
    act(last ?? .failure(failure)) { $0.refused(in: turn) }
  }
}

// MARK: Modifying

// The modifier of a request, which changes each attempt before its transfer.
extension DownloadJob {
  /// Calls the modifier of the request, if it has one that has not changed this attempt yet. `completion` is called
  /// when the attempt is ready for its transfer, but not after the download has given up this turn.
  func modify(
    _ turn: DownloadState.Turn, completion: @escaping @Sendable (FetchFailure?) -> Void
  ) {
    guard let modifier = request.modifier, let attempt = state.withLock({ $0.unmodified(request) }) else {
      return completion(nil)
    }
    let limit = context.limits(of: request).total
    let call = ModifierCall.start(modifier, attempt, within: limit, after: context.after) { [weak self] result in
      self?.adopt(result, turn, completion)
    }
    // Thread A has begun the call while thread B pauses the download, which finds no call to cancel.
    let isGivenUp = state.withLock { state in
      guard state.machine.isWaiting(in: turn) else { return true }
      state.modification = call
      return false
    }
    if isGivenUp { call.cancel() }
  }

  private func adopt(
    _ result: Result<RequestAttempt, FetchFailure>, _ turn: DownloadState.Turn,
    _ completion: @escaping @Sendable (FetchFailure?) -> Void
  ) {
    let isWaiting = state.withLock { state in
      guard state.machine.isWaiting(in: turn) else { return false }
      if case .success(let attempt) = result { state.modify(attempt, of: self) }
      return true
    }
    guard isWaiting else { return }
    switch result {
    case .failure(let failure): completion(failure.ofModifier)
    case .success(let attempt): checkRobots(of: attempt, completion)
    }
  }

  /// Checks the rules of the host again if the modifier has changed the URL.
  private func checkRobots(of attempt: RequestAttempt, _ completion: @escaping @Sendable (FetchFailure?) -> Void) {
    let (sent, trail) = state.withLock { ($0.sent(request), $0.trail) }
    guard let robots = context.robots, let trail, attempt.source != request.source else {
      return completion(nil)
    }
    let limits = context.limits(of: request)
    robots.check(
      attempt.source, userAgent: context.userAgent(of: sent, to: trail), addresses: limits.addresses, completion)
  }
}

extension DownloadJob.State {
  /// Returns `request` with the header fields that the current attempt sends. Its URL is in the trail.
  func sent(_ request: DownloadRequest) -> DownloadRequest {
    guard let modified else { return request }
    var sent = request
    sent.headerFields = modified.headerFields
    return sent
  }

  /// The next attempt, for the modifier of `request`; nil if it is modified already, or only follows a redirect.
  fileprivate func unmodified(_ request: DownloadRequest) -> RequestAttempt? {
    guard modified == nil, !machine.isRedirected else { return nil }
    return RequestAttempt(
      number: machine.nextAttempt, lastFailure: lastResult?.failureCode, source: request.source,
      headerFields: request.headerFields)
  }

  /// Takes the modified attempt, whose URL the transfer requests.
  fileprivate mutating func modify(_ attempt: RequestAttempt, of job: DownloadJob) {
    modification = nil
    modified = attempt
    trail = RedirectChain(
      from: attempt.source, shownAs: job.request.source, limit: job.context.limits(of: job.request).maxRedirects)
  }
}

extension FetchFailure {
  /// The failure of a modifier. Keeps only code and message: the response that a modifier got is from another server
  /// and does not concern this host or image.
  fileprivate var ofModifier: FetchFailure { FetchFailure(code, message) }
}

extension Result<ResponseAssembler.Response, FetchFailure> {
  /// The code of a failure, or of a response that is one; nil for a success.
  fileprivate var failureCode: FailureCode? {
    switch self {
    case .failure(let failure): failure.code
    case .success(let response):
      response.head.response.status.code >= 400 ? .http(response.head.response.status.code) : nil
    }
  }
}

/// One call of a modifier. It ends once: with its result, or at its deadline.
private final class ModifierCall: Sendable {
  typealias Completion = @Sendable (Result<RequestAttempt, FetchFailure>) -> Void

  private let completion: Mutex<Completion?>
  private let tasks = Mutex<[Task<Void, Never>]>([])

  private init(_ completion: @escaping Completion) { self.completion = Mutex(completion) }

  /// Calls `modifier`, and then `completion` once, on any thread, unless the call is canceled.
  ///
  /// - Parameters:
  ///   - limit: the maximum time that the modifier may take.
  ///   - after: runs a closure after a pause.
  static func start(
    _ modifier: RequestModifier, _ attempt: RequestAttempt, within limit: Duration,
    after: (Duration, @escaping @Sendable () -> Void) -> Task<Void, Never>, completion: @escaping Completion
  ) -> WorkHandle {
    let call = ModifierCall(completion)
    let timer = after(limit) {
      call.end(.failure(FetchFailure(.timeoutTotal, "The modifier of the request took longer than \(limit).")))
    }
    let work = Task {
      do throws(FetchFailure) {
        call.end(.success(try await modifier.modify(attempt)))
      } catch {
        call.end(.failure(error))
      }
    }
    call.keep([timer, work])
    return WorkHandle(cancel: { call.cancel() })
  }

  /// Keeps the tasks until the end. If that has come by now, they are canceled.
  private func keep(_ tasks: [Task<Void, Never>]) {
    self.tasks.withLock { $0 = tasks }
    if completion.withLock({ $0 == nil }) { cancel() }
  }

  private func end(_ result: Result<RequestAttempt, FetchFailure>) {
    let completion = completion.withLock { $0.take() }
    cancel()
    completion?(result)
  }

  private func cancel() {
    completion.withLock { $0 = nil }
    let running = tasks.withLock { tasks in
      defer { tasks = [] }
      return tasks
    }
    for task in running { task.cancel() }
  }
}

// MARK: End

extension DownloadJob {
  fileprivate func finish(_ result: Result<ResponseAssembler.Response, FetchFailure>) {
    guard let part = request.part else { return context.ended(self, outcome(of: result)) }
    // Checking a file takes time, and the thread that ends transfers has others to serve.
    context.callbacks.async { [self] in
      let outcome = outcome(of: result, in: part)
      releaseFile()
      context.ended(self, outcome)
    }
  }

  /// Returns the outcome for a body in a file, which gets its name: any status but 200 is a failure.
  private func outcome(
    of result: Result<ResponseAssembler.Response, FetchFailure>, in part: PartFile
  ) -> Result<Download, FetchFailure> {
    measured(result).flatMap { download in
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
  private func outcome(
    of result: Result<ResponseAssembler.Response, FetchFailure>
  ) -> Result<Download, FetchFailure> {
    let fields = state.withLock { $0.sent(request).headerFields }
    return measured(result).flatMap { download in
      let status = download.response.status.code
      if download.isTargetReused || request.responses.accepts(status, of: fields) {
        return .success(download)
      }
      return .failure(FetchFailure(statusOf: download, now: context.now()))
    }
  }

  /// Returns the download with its attempts and times, whatever its status.
  private func measured(
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
