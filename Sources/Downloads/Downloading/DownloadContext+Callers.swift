internal import Synchronization

// The traffic between callers and jobs. Each step changes the table under its lock, and acts after unlocking.
extension DownloadContext {
  package typealias CallerID = Table.CallerID

  // MARK: From callers to jobs

  /// Adds a caller to the download of `request`, which it starts for the first caller.
  package func join(_ request: DownloadRequest, _ caller: any DownloadSubscriber, demand: Demand) {
    do throws(FetchFailure) {
      try check(request)
    } catch {
      return caller.ended(.failure(error))
    }
    let joined = state.withLock { state in
      let joined = state.jobs.join(request.key, caller, id: CallerID(caller), demand: demand) {
        DownloadJob(id: $0, in: self)
      }
      if joined.isNew { state.didStart(joined.job, request) }
      return joined
    }
    start(joined, for: caller)
  }

  /// Adds a caller whose download waits for dependencies.
  func wait(_ caller: DownloadCaller, demand: Demand) {
    let joined = state.withLock { state in
      state.jobs.wait(caller, id: CallerID(caller), demand: demand) {
        DownloadJob(id: $0, in: self)
      }
    }
    joined.job.change(to: joined.demand)
  }

  /// Starts the download of a caller that has waited, or lets it join the one that is running. Does nothing if the
  /// caller has left.
  func begin(_ request: DownloadRequest, for caller: DownloadCaller) {
    do throws(FetchFailure) {
      try check(request)
    } catch {
      return fail(caller, error)
    }
    let joined = state.withLock { state in
      let joined = state.jobs.assign(CallerID(caller), to: request.key)
      if let joined, joined.isNew { state.didStart(joined.job, request) }
      return joined
    }
    if let joined { start(joined, for: caller) }
  }

  /// Ends a caller whose download has not begun. Does nothing if the caller has left.
  func fail(_ caller: DownloadCaller, _ failure: FetchFailure) {
    if state.withLock({ $0.jobs.leave(CallerID(caller)) }) != nil { caller.ended(.failure(failure)) }
  }

  /// Removes a caller, and cancels its download if it was the last one. The caller must have its end already.
  package func leave(_ id: CallerID) {
    let left = state.withLock { state in
      let left = state.jobs.leave(id)
      if let abandoned = left?.abandoned { state.didFinish(abandoned, .failure(.cancelled)) }
      return left
    }
    left?.abandoned?.cancel()
    if let (job, demand) = left?.remaining { job.change(to: demand) }
  }

  /// Changes the demand of a caller.
  package func change(_ id: CallerID, _ change: (inout Demand) -> Void) {
    guard let (job, demand) = state.withLock({ $0.jobs.change(id, change) }) else { return }
    job.change(to: demand)
  }

  /// Reports progress to a caller from now on. Returns the progress so far.
  package func watch(_ id: CallerID) -> DownloadProgress? { state.withLock { $0.jobs.job(of: id) }?.watch() }

  /// Cancels the downloads whose demand `isCancelled` accepts. Each of their callers gets `cancelled`.
  func cancelAll(where isCancelled: (JointDemand) -> Bool = { _ in true }) {
    let (jobs, callers) = state.withLock { state in
      let removed = state.jobs.remove(where: isCancelled)
      for job in removed.jobs { state.didFinish(job, .failure(.cancelled)) }
      return removed
    }
    queue.whileHeld { for job in jobs { job.cancel() } }
    for caller in callers { caller.ended(.failure(.cancelled)) }
  }

  private func start(_ joined: Table.Joined, for caller: any DownloadSubscriber) {
    if caller.wantsProgress, let progress = joined.job.watch() { caller.progressed(progress) }
    joined.job.change(to: joined.demand)
    if joined.isNew { joined.job.begin() }
  }

  private func check(_ request: DownloadRequest) throws(FetchFailure) {
    guard !isShutDown.load(ordering: .acquiring) else { throw .cancelled }
    try files.check(request.source)
    try request.headerFields.checkFraming()
  }

  // MARK: From jobs to callers

  func progressed(_ job: DownloadJob, _ request: DownloadRequest, _ progress: DownloadProgress) {
    let callers = state.withLock { state -> [any DownloadSubscriber] in
      guard let waiting = state.jobs.waiting(for: job.id) else { return [] }
      state.observers.notify { $0.download(request.source, didProgress: progress) }
      return waiting.callers
    }
    for caller in callers { caller.progressed(progress) }
  }

  func ended(_ job: DownloadJob, _ request: DownloadRequest, _ result: Result<Download, FetchFailure>) {
    let callers = state.withLock { state in
      let callers = state.jobs.settle(job.id).served
      // If the last caller has left, or everything was canceled, the observers know the end already.
      if !callers.isEmpty { state.didFinish(job, result) }
      return callers
    }
    if !callers.isEmpty, !request.isRobotsFile { metrics.record(result) }
    for caller in callers { caller.ended(result) }
  }
}

extension DownloadContext.State {
  /// Starts a job. Its observers are notified under the lock, so that the end cannot come first.
  fileprivate mutating func didStart(_ job: DownloadJob, _ request: DownloadRequest) {
    job.adopt(request)
    observers.notify { $0.downloadDidStart(request.source) }
    if !observers.isEmpty { _ = job.watch() }
  }

  /// Notifies the observers of an end. For them, a job that still waits for dependencies has not started.
  fileprivate mutating func didFinish(_ job: DownloadJob, _ result: Result<Download, FetchFailure>) {
    guard let request = job.request else { return }
    observers.notify { $0.downloadDidFinish(request.source, result) }
  }
}
