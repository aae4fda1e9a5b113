internal import Synchronization

// The way of one transfer through the queue: from the permission of the host to the turn among the transfers.
extension DownloadJob {
  /// Enters the queue of the host, if that permits the request.
  func enqueue(_ turn: DownloadState.Turn) {
    let (request, trail) = state.withLock { ($0.request, $0.trail) }
    guard let request, let trail else { return }
    let hop = trail.hop
    guard let robots = context.robots, !request.isRobotsFile else { return enter(request, hop, turn) }
    let (userAgent, limits) = (context.userAgent(of: request, to: trail), context.limits(of: request))
    robots.check(hop, userAgent: userAgent, addresses: limits.addresses) { [self] failure in
      if let failure { refuse(failure, in: turn) } else { enter(request, hop, turn) }
    }
  }

  /// Takes a place in the queue, unless the download has given up this turn.
  private func enter(_ request: DownloadRequest, _ hop: SourceURL, _ turn: DownloadState.Turn) {
    let isModified = request.modifier == nil || state.withLock { $0.modified != nil || $0.machine.isRedirected }
    let isPrepared = isModified && context.isPrepared(request, to: hop)
    let effects = state.withLock { state -> TransferQueue.Effects? in
      guard state.machine.isWaiting(in: turn) else { return nil }
      // The queue keeps the job while it has a ticket: thread A may have decided to start the transfer when the last
      // caller leaves on thread B, and nobody else could give the place back then.
      let (ticket, effects) = context.queue.add(
        to: hop.host, state.machine.priority, isPrepared: isPrepared
      ) { [self] in
        handle($0, request, hop, turn)
      }
      state.ticket = ticket
      return effects
    }
    if let effects { context.queue.perform(effects) }
  }

  private func handle(
    _ event: TransferQueue.Turn, _ request: DownloadRequest, _ hop: SourceURL, _ turn: DownloadState.Turn
  ) {
    switch event {
    case .prepare(let ticket):
      modify(request, turn) { [weak self] failure in
        guard let self else { return }
        if let failure { fail(failure, ticket, turn, .abandoned) } else { prepare(request, hop, ticket, turn) }
      }
    case .start(let ticket): startTransfer(turn, ticket)
    case .refuse(let refusal): refuse(context.failure(of: hop.host, refusal), in: turn)
    }
  }

  private func prepare(
    _ request: DownloadRequest, _ hop: SourceURL, _ ticket: TransferQueue.Ticket, _ turn: DownloadState.Turn
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
    _ contact: TransferSchedule.Contact
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
