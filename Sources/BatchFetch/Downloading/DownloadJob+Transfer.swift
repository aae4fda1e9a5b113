internal import Foundation
internal import HTTPTypes
internal import Synchronization

// One attempt: from the turn among the transfers to the end of the response.
extension DownloadJob: TransferReceiver {
  /// Starts the transfer, unless the download has given up this turn.
  func startTransfer(_ turn: DownloadState.Turn) {
    let requestedAt = context.now()
    let begun = state.withLock { state -> (DownloadRequest, DownloadState.Attempt, TokenSlot.Round)? in
      guard let request = state.request, let attempt = state.machine.attempt(in: turn) else { return nil }
      state.assembler = ResponseAssembler(
        maxBytes: context.limits.maxBytes, continuing: attempt.partial, requestedAt: requestedAt)
      state.isInspected = false
      // Thread A is here while thread B pauses the download: the round must exist as soon as the phase is `attempting`,
      // or the pause would find nothing to cancel.
      let round = transfer.begin()
      state.round = round
      return (request, attempt, round)
    }
    guard let (request, attempt, round) = begun else { return }
    transfer.fill(round, with: context.transfer(request, continuing: attempt.partial, to: self))
  }

  /// Ends an attempt that failed before its transfer.
  func fail(_ failure: FetchFailure, in turn: DownloadState.Turn) {
    guard let attempt = state.withLock({ $0.machine.attempt(in: turn) }) else { return }
    attemptEnded(.ended(.failure(failure), kept: attempt.partial))
  }

  func receive(head: TransferHead) throws(FetchFailure) {
    let respondedAt = context.now()
    try state.withLock { state throws(FetchFailure) in try state.assembler?.receive(head: head, at: respondedAt) }
  }

  func receive(bytes: UnsafeRawBufferPointer) throws(FetchFailure) {
    let (due, inspection) = try state.withLock { state throws(FetchFailure) in
      try state.receive(bytes: bytes, elapsed: context.elapsed)
    }
    if let inspection {
      let isInspected = try inspection(state.withLock { $0.assembler?.body ?? [] })
      state.withLock { $0.isInspected = isInspected }
    }
    if let (progress, request) = due { context.progressed(self, request, progress) }
  }

  func receiveEnd(_ failure: FetchFailure?) {
    // The transport's thread has other transfers to serve.
    context.scheduling.async { [self] in
      transfer.end()
      let (outcome, place) = state.withLock { state in
        var assembler = state.assembler.take()
        return (assembler?.finish(failure), state.transferPlace.take())
      }
      place?.leave()
      if let outcome { attemptEnded(outcome) }
    }
  }

  private func attemptEnded(_ outcome: ResponseAssembler.AttemptOutcome) {
    let retryAfter = outcome.retryAfter(now: context.now())
    guard let request else { return }
    if let status = outcome.status {
      context.hosts.didRespond(host: request.source.host, isRefusal: status.isRefusal, retryAfter: retryAfter)
    }
    act(outcome: outcome) { machine in
      machine.attemptEnded(
        outcome.attemptResult(isKept: request.isResumable), retryAfter: retryAfter, policy: context.retry,
        jitter: context.jitter())
    }
  }
}

extension DownloadJob.State {
  /// Adds bytes to the body. Returns the progress if it is due, and the inspection unless it has accepted the body.
  fileprivate mutating func receive(
    bytes: UnsafeRawBufferPointer, elapsed: () -> Duration
  ) throws(FetchFailure) -> (due: (DownloadProgress, DownloadRequest)?, DownloadRequest.Inspection?) {
    guard try assembler?.receive(bytes: bytes) == true, let request else { return (nil, nil) }
    let progress = DownloadProgress(
      attempt: machine.attempts, received: assembler?.body.count ?? 0, total: assembler?.total)
    let isDue = throttle.record(progress, now: elapsed)
    return (isDue ? (progress, request) : nil, isInspected ? nil : request.inspection)
  }
}

extension ResponseAssembler.AttemptOutcome {
  /// The status of the response; nil if none was complete.
  var status: HTTPResponse.Status? {
    guard case .ended(.success(let response), _) = self else { return nil }
    return response.head.response.status
  }

  /// The pause that a 429 or 503 response requests with `Retry-After`; nil for other outcomes.
  func retryAfter(now: Date) -> Duration? {
    guard case .ended(.success(let response), _) = self, response.head.response.status.isRefusal,
      let value = response.head.response.headerFields[.retryAfter]
    else { return nil }
    return RetryAfter.duration(of: value, now: now)
  }

  /// The result for the life cycle of the download.
  ///
  /// - Parameter isKept: False if the next attempt must not continue the bytes of this one.
  func attemptResult(isKept: Bool) -> DownloadState.AttemptResult {
    guard case .ended(let result, let kept) = self else { return .rangeRefused }
    let code: FailureCode
    switch result {
    case .failure(let failure): code = failure.code
    case .success(let response):
      let status = response.head.response.status
      guard status.kind == .serverError || status.kind == .clientError else { return .complete }
      code = .http(status.code)
    }
    return .failed(code, kept: isKept ? kept : nil)
  }
}

extension HTTPResponse.Status {
  /// True if the server wants fewer requests: 429 Too Many Requests (RFC 6585, section 4) or 503 Service Unavailable
  /// (RFC 9110, section 15.6.4).
  var isRefusal: Bool { code == 429 || code == 503 }
}
