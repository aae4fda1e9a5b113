package import Foundation
internal import HTTPTypes
internal import Synchronization

// One transfer: from its turn in the queue to the end of the response.
extension DownloadJob: TransferReceiver {
  /// Starts the transfer, unless the download has given up this turn.
  func startTransfer(_ turn: DownloadState.Turn, _ ticket: TransferQueue.Ticket) {
    let requestedAt = context.now()
    let begun = state.withLock { state -> State.Start? in
      guard let start = state.start(request, turn, requestedAt: requestedAt, in: context) else { return nil }
      // Thread A is here while thread B pauses the download: the round must exist as soon as the phase is `attempting`,
      // or the pause would find nothing to cancel.
      state.round = transfer.begin()
      return start
    }
    // Thread A has got the turn while thread B paused the download, too late to remove the ticket.
    guard let begun, let round = state.withLock({ $0.round }) else { return context.queue.end(ticket, .abandoned) }
    let handle = context.transfer(
      begun.request, to: begun.trail, continuing: begun.partial, elapsed: begun.elapsed, receiver: self)
    transfer.fill(round, with: handle)
  }

  package func requestSent() {
    guard context.hasRates else { return }
    // The transport's thread has other transfers to serve.
    context.scheduling.async { [self] in
      if let ticket = state.withLock({ $0.ticket }) { context.queue.sent(ticket) }
    }
  }

  package func receive(head: TransferHead) throws(FetchFailure) {
    let respondedAt = context.now()
    try state.withLock { state throws(FetchFailure) in
      var head = head
      if let trail = state.trail, !trail.redirects.isEmpty {
        head.finalURL = head.finalURL ?? trail.finalURL
        head.redirects = trail.redirects + head.redirects
        head.isCacheable = head.isCacheable && context.trusts(trail)
        head.isPrivate = head.isPrivate || trail.isPrivate
      }
      try state.assembler?.receive(head: head, at: respondedAt)
      guard let robots = context.robots, let trail = state.trail else { return }
      let request = state.sent(request)
      if request.isRobotsFile { return }
      try robots.check(head.response, userAgent: context.userAgent(of: request, to: trail))
    }
  }

  package func receive(bytes: UnsafeRawBufferPointer) throws(FetchFailure) {
    let (due, isInspectionDue) = try state.withLock { state throws(FetchFailure) in
      try state.receive(bytes: bytes, elapsed: context.elapsed)
    }
    if isInspectionDue, let inspection = request.inspection {
      let body = state.withLock { $0.assembler?.body ?? [] }
      let isAccepted = try inspection(body)
      state.withLock { $0.inspections.inspected(body.count, isAccepted: isAccepted) }
    }
    if let due { context.progressed(self, due) }
  }

  package func receiveEnd(_ failure: FetchFailure?) {
    // The transport's thread has other transfers to serve.
    context.scheduling.async { [self] in
      transfer.end()
      let (outcome, ticket) = state.withLock { state in
        state.elapsed += state.started.duration(to: .now)
        var assembler = state.assembler.take()
        return (assembler?.finish(failure), state.ticket.take())
      }
      let ended = outcome ?? .ended(.failure(.cancelled), kept: nil)
      if let ticket { context.queue.end(ticket, ended.contact(now: context.now())) }
      if let outcome { attemptEnded(outcome) }
    }
  }

  /// Handles the outcome of a transfer, or of its preparation.
  func attemptEnded(_ outcome: ResponseAssembler.AttemptOutcome) {
    guard case .ended(var result, let kept) = outcome else { return end(.rangeRefused) }
    if case .success(let response) = result, let location = RedirectChain.location(in: response.head.response) {
      do throws(FetchFailure) {
        let trail = try follow(location, in: response.head)
        guard let trail, let target = request.freshTarget, trail.finalURL == target else {
          return end(.redirected(kept: kept))
        }
        result = .success(response.reusingTarget(of: trail))
      } catch {
        result = .failure(error.after(response.head))
      }
    }
    let isResumable = state.withLock { state in
      state.record(result)
      return state.sent(request).isResumable
    }
    end(.init(result, kept: isResumable ? kept : nil), result)
  }

  /// Follows a redirect, as soon as the state has decided to go on. Returns the redirects with this one.
  private func follow(_ location: [UInt8], in head: TransferHead) throws(FetchFailure) -> RedirectChain? {
    try state.withLock { state throws(FetchFailure) in
      guard var next = state.trail else { return nil }
      try next.follow(location, in: head.response)
      next.isPrivate = head.isPrivate
      state.redirected = next
      return next
    }
  }

  private func end(
    _ attempt: DownloadState.AttemptResult, _ result: Result<ResponseAssembler.Response, FetchFailure>? = nil
  ) {
    let retryAfter = result.flatMap { $0.retryAfter(now: context.now()) }
    let policy = request.retry ?? context.retry
    act(result) { machine in
      machine.attemptEnded(attempt, retryAfter: retryAfter, policy: policy, jitter: context.jitter())
    }
  }
}

extension DownloadJob.State {
  /// The parts of a transfer that starts.
  struct Start {
    let request: DownloadRequest
    let trail: RedirectChain
    let partial: PartialDownload?
    let elapsed: Duration
  }

  /// Begins a transfer; nil if the download has given up this turn.
  fileprivate mutating func start(
    _ request: DownloadRequest, _ turn: DownloadState.Turn, requestedAt: Date, in context: DownloadContext
  ) -> Start? {
    guard let trail, let attempt = machine.attempt(in: turn) else { return nil }
    let request = sent(request)
    let partial = attempt.partial ?? request.part?.takeEarlier()
    if attempt.partial == nil, let partial { request.part?.noteResumed(partial.body.count) }
    writer = request.part?.makeWriter()
    assembler = ResponseAssembler(
      maxBytes: context.limits(of: request).maxBytes, keepsStart: request.isRobotsFile, rules: request.responses,
      fields: request.headerFields, continuing: partial, body: writer.map { ReceivedBody($0) } ?? ReceivedBody(),
      requestedAt: requestedAt)
    inspections = InspectionPace()
    started = .now
    return Start(request: request, trail: trail, partial: partial, elapsed: elapsed)
  }

  /// Keeps the result of an attempt, unless a pause has interrupted it.
  fileprivate mutating func record(_ result: Result<ResponseAssembler.Response, FetchFailure>) {
    if case .failure(let failure) = result, failure.code == .cancelled { return }
    lastResult = result
  }

  /// Adds bytes to the body. Returns the progress if it is due, and whether an inspection is.
  fileprivate mutating func receive(
    bytes: UnsafeRawBufferPointer, elapsed: () -> Duration
  ) throws(FetchFailure) -> (due: DownloadProgress?, isInspectionDue: Bool) {
    guard try assembler?.receive(bytes: bytes) == true else { return (nil, false) }
    let progress = DownloadProgress(
      attempt: machine.attempts, received: assembler?.count ?? 0, total: assembler?.total)
    let isInspectionDue = inspections.isDue(at: progress.received)
    let isDue = throttle.record(progress, now: elapsed)
    return (isDue ? progress : nil, isInspectionDue)
  }
}

extension ResponseAssembler.Response {
  /// Returns the response in place of one from the target of `trail`, which is not requested.
  fileprivate func reusingTarget(of trail: RedirectChain) -> Self {
    var response = self
    response.head.response = HTTPResponse(status: .notModified)
    response.head.finalURL = trail.finalURL
    response.head.redirects = trail.redirects
    response.head.isTargetReused = true
    return response
  }
}

extension FetchFailure {
  /// The failure with the head of the response that caused it.
  fileprivate func after(_ head: TransferHead) -> FetchFailure {
    var failure = self
    failure.head = head
    return failure
  }

  /// The contact that a failed transfer had with its host.
  fileprivate var contact: TransferScheduler.Contact {
    if isUnreachable { return .unreachable }
    if head != nil { return .response(nil) }
    return code.contact == .none ? .abandoned : .reached
  }
}

extension ResponseAssembler.AttemptOutcome {
  /// Returns the contact that the transfer had with its host.
  func contact(now: Date) -> TransferScheduler.Contact {
    switch self {
    case .rangeRefused: .response(nil)
    case .ended(.failure(let failure), _): failure.contact
    case .ended(let result, _): .response(result.pauseRequest(now: now))
    }
  }
}

extension Result<ResponseAssembler.Response, FetchFailure> {
  /// The pause that an error response requests; nil for other results.
  fileprivate func retryAfter(now: Date) -> Duration? {
    guard case .success(let response) = self, response.head.response.status.code >= 400 else { return nil }
    return RetryAfter.duration(in: response.head.response, now: now)
  }

  /// The pause that a 429 or 503 response requests; nil for other results.
  fileprivate func pauseRequest(now: Date) -> HostBackoff.PauseRequest? {
    guard case .success(let response) = self, [429, 503].contains(response.head.response.status.code) else {
      return nil
    }
    return HostBackoff.PauseRequest(
      isLimit: response.head.response.status.code == 429, retryAfter: retryAfter(now: now))
  }
}

extension DownloadState.AttemptResult {
  /// - Parameters:
  ///   - result: the result of the transfer.
  ///   - kept: the bytes that the next attempt may continue.
  fileprivate init(_ result: Result<ResponseAssembler.Response, FetchFailure>, kept: PartialDownload?) {
    switch result {
    case .failure(let failure): self = .failed(failure.code, kept: kept)
    case .success(let response):
      let status = response.head.response.status
      let isError = status.kind == .serverError || status.kind == .clientError
      self = isError ? .failed(.http(status.code), kept: kept) : .complete
    }
  }
}

/// Decides when a growing body is inspected: at first for every piece, later whenever it has grown by a quarter. An
/// inspection begins at the first byte, so without growth in between, many small pieces would take quadratic time.
struct InspectionPace {
  /// The number of bytes at which the next inspection is due; nil after the last one.
  private var next: Int? = 0

  /// Returns true if a body of `count` bytes is to be inspected.
  func isDue(at count: Int) -> Bool { next.map { count >= $0 } ?? false }

  /// Records an inspection of `count` bytes. No further one is due if it has accepted the body.
  mutating func inspected(_ count: Int, isAccepted: Bool) { next = isAccepted ? nil : count + count / 4 }
}

extension FetchFailure {
  /// Creates the failure of a download whose response has a status that is no success, with the start of its body.
  package init(statusOf download: Download, now: Date) {
    let status = download.response.status
    let reason = status.reasonPhrase.isEmpty ? "" : " (\(status.reasonPhrase))"
    self.init(
      .http(status.code), "The server responded with status \(status.code)\(reason).", attempts: download.attempts)
    head = download.head
    body = download.body
    retryAt = RetryAfter.duration(in: download.response, now: now).map { now + $0 / .seconds(1) }
  }
}
