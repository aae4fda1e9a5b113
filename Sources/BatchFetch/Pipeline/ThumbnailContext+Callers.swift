internal import HTTPTypes
internal import ImageCache
internal import Synchronization

// The traffic between callers and jobs. Each step changes the table under its lock, and acts after unlocking.
extension ThumbnailContext {
  typealias CallerID = Table.CallerID

  // MARK: From callers to jobs

  /// Serves a caller from memory, or adds it to the job of its image.
  func load(_ request: ThumbnailRequest, _ demand: Demand, for caller: ThumbnailCaller) {
    do throws(FetchFailure) {
      guard !isShutDown.load(ordering: .acquiring) else { throw .cancelled }
      let (source, key) = try identity(of: request)
      if let outcome = outcomeInMemory(request, key) {
        caller.ended(outcome)
      } else {
        join(request, demand, source, key, caller)
      }
    } catch {
      caller.ended(.failure(error))
    }
  }

  private func join(
    _ request: ThumbnailRequest, _ demand: Demand, _ source: SourceURL, _ key: JobKey, _ caller: ThumbnailCaller
  ) {
    let joined = state.withLock { state -> Table.Joined? in
      // Thread A tries the next mirror here while thread B calls `cancelAll()`: B does not find the caller in any
      // table, but A sees that the epoch has changed.
      guard caller.epoch == epoch.load(ordering: .relaxed) else { return nil }
      return state.jobs.join(key, caller, id: CallerID(caller), demand: demand) {
        ThumbnailJob(request, of: source, identity: key, id: $0, in: self)
      }
    }
    guard let joined else { return caller.ended(.failure(.cancelled)) }
    if caller.inbox.wantsProgress, let progress = joined.job.watch() { caller.progressed(progress) }
    guard joined.isNew else { return joined.job.updateDemand() }
    if demand.isPaused { joined.job.updateDemand() }
    joined.job.start()
  }

  /// Removes a caller, and cancels its job if it was the last one. The caller must have its end already.
  func leave(_ id: CallerID) {
    guard let left = state.withLock({ $0.jobs.leave(id) }) else { return }
    left.abandoned?.cancel()
    left.remaining?.job.updateDemand()
  }

  /// Changes the demand of a caller.
  func change(_ id: CallerID, _ change: (inout Demand) -> Void) {
    state.withLock { $0.jobs.change(id, change) }?.job.updateDemand()
  }

  /// Keeps a caller that waits for milestones. Returns false if everything was canceled since the caller came.
  func addWaiting(_ caller: ThumbnailCaller) -> Bool {
    state.withLock { state in
      guard caller.epoch == epoch.load(ordering: .relaxed) else { return false }
      state.waiting[CallerID(caller)] = caller
      return true
    }
  }

  /// Returns false if the caller no longer waits.
  func removeWaiting(_ caller: ThumbnailCaller) -> Bool {
    state.withLock { $0.waiting.removeValue(forKey: CallerID(caller)) } != nil
  }

  /// Cancels all jobs. Each caller gets `cancelled`.
  func cancelAll() {
    let (waiting, jobs, callers) = state.withLock { state in
      epoch.add(1, ordering: .releasing)
      let removed = state.jobs.remove()
      return (Array(state.waiting.values), removed.jobs, removed.callers)
    }
    // Callers that wait for milestones come first: the end of another request may be what they wait for.
    for caller in waiting { caller.cancel() }
    downloader.context.queue.whileHeld { for job in jobs { job.cancel() } }
    for caller in callers { caller.ended(.failure(.cancelled)) }
  }

  // MARK: From jobs to callers

  /// Returns the demand of a job; nil if it has no callers left.
  func demand(of job: ThumbnailJob) -> RenderDemand? {
    guard let callers = waiting(for: job) else { return nil }
    // The usual case, which need not compare specs.
    if callers.count == 1 { return RenderDemand(callers[0].request) }
    return RenderDemand(callers.map(\.request))
  }

  /// Returns false if a job has no callers left.
  func hasCallers(_ job: ThumbnailJob) -> Bool { jointDemand(of: job) != nil }

  /// The highest priority among the callers of a job, paused if all are; nil if it has no callers left.
  func jointDemand(of job: ThumbnailJob) -> Demand? { state.withLock { $0.jobs.demand(of: job.id) } }

  func progressed(_ job: ThumbnailJob, _ progress: DownloadProgress) {
    for caller in waiting(for: job) ?? [] { caller.progressed(progress) }
  }

  /// Delivers an outcome to all callers that it serves. Returns true if no caller is left.
  func settle(_ job: ThumbnailJob, _ outcome: Result<ServedSource, FetchFailure>) -> Bool {
    let (served, isOver) = state.withLock { state in
      state.jobs.settle(job.id) { outcome.result(for: $0.request) != nil }
    }
    for caller in served {
      if let result = outcome.result(for: caller.request) { caller.ended(result) }
    }
    return isOver
  }

  /// Ends the callers that expect other bytes than those of `download`, which have this `digest`. Returns true if no
  /// caller is left.
  func settle(_ job: ThumbnailJob, expectingOtherThan digest: BodyDigest, _ download: Download) -> Bool {
    let (served, isOver) = state.withLock { state in
      state.jobs.settle(job.id) { $0.request.digest.map { $0 != digest } ?? false }
    }
    for caller in served {
      guard let expected = caller.request.digest else { continue }
      var failure = FetchFailure(hash: digest, expected: expected, httpStatus: nil, attempts: download.attempts)
      failure.head = download.head
      caller.ended(.failure(failure))
    }
    return isOver
  }

  private func waiting(for job: ThumbnailJob) -> [ThumbnailCaller]? {
    state.withLock { $0.jobs.waiting(for: job.id)?.callers }
  }
}

extension Result<ServedSource, FetchFailure> {
  /// Returns the result for the caller of `request`; nil if it does not serve that caller.
  fileprivate func result(for request: ThumbnailRequest) -> Result<ThumbnailSet, FetchFailure>? {
    switch self {
    case .success(let served): served.result(for: request.specs, digest: request.digest)
    case .failure(let failure): .failure(failure)
    }
  }
}
