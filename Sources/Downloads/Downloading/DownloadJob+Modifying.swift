internal import HTTPTypes
internal import Synchronization

// The modifier of a request, which changes each attempt before its transfer.
extension DownloadJob {
  /// Calls the modifier of the request, if it has one that has not changed this attempt yet. `completion` is called
  /// when the attempt is ready for its transfer, but not after the download has given up this turn.
  func modify(
    _ request: DownloadRequest, _ turn: DownloadState.Turn, completion: @escaping @Sendable (FetchFailure?) -> Void
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
      if case .success(let attempt) = result { state.modify(attempt, in: context) }
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
    let (request, trail) = state.withLock { ($0.sentRequest, $0.trail) }
    guard let robots = context.robots, let request, let trail, attempt.source != request.source else {
      return completion(nil)
    }
    let limits = context.limits(of: request)
    robots.check(
      attempt.source, userAgent: context.userAgent(of: request, to: trail), addresses: limits.addresses, completion)
  }
}

extension DownloadJob.State {
  /// The request with the header fields that the current attempt sends. Its URL is in the trail.
  var sentRequest: DownloadRequest? {
    guard var sent = request, let modified else { return request }
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
  fileprivate mutating func modify(_ attempt: RequestAttempt, in context: DownloadContext) {
    modification = nil
    modified = attempt
    trail = request.map {
      RedirectTrail(from: attempt.source, shownAs: $0.source, limit: context.limits(of: $0).maxRedirects)
    }
  }
}

extension FetchFailure {
  /// The failure of a modifier. What it says about a server concerns another one than that of the request, which must
  /// not be taken for unreachable, nor its image for missing.
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
