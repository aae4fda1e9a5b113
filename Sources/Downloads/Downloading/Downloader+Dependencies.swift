public import Foundation

extension Downloader {
  /// The outcomes of the downloads that another one waited for, in the given order.
  public typealias Outcomes = [Result<Download, FetchFailure>]

  /// Starts a download whose request depends on the outcomes of others: a package, for example, whose URL is in a
  /// configuration file.
  ///
  /// ```swift
  /// let config = downloader.download(configRequest) { _ in }
  /// downloader.download(after: [config]) { outcomes in
  ///   let file = try outcomes[0].get().body
  ///   let package = try JSONDecoder().decode(Package.self, from: Data(file))
  ///   return try DownloadRequest(url: package.url)
  /// } completion: { result in
  ///   print(result.map(\.body.count))
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - dependencies: downloads to wait for, as in ``download(_:after:on:progress:completion:)``.
  ///   - queue: where the closures are called, one at a time. Default: a queue of the downloader.
  ///   - progress: receives progress, never after `completion` was called.
  ///   - request: called once, after the completions of all dependencies have returned, unless the caller has left. It
  ///     decides if the failure of a dependency matters. If it throws a ``FetchFailure``, the download fails with that;
  ///     any other error becomes `request_failed`, with the description of the error. The priority of the request
  ///     counts, unless ``DownloadToken/setPriority(_:)`` was called before.
  ///   - completion: called exactly once.
  @discardableResult
  public func download(
    after dependencies: [DownloadToken], on queue: DispatchQueue? = nil, progress: DownloadProgress.Handler? = nil,
    request: @escaping @Sendable (Outcomes) throws -> DownloadRequest, completion: @escaping Completion
  ) -> DownloadToken {
    let caller = makeCaller(on: queue, progress: progress, completion: completion)
    caller.enter(context, priority: .normal)
    // The callers, not the tokens, which keep their downloaders alive: a downloader that is released cancels what is
    // paused, and must not be kept by those that wait for it.
    let callers = dependencies.map(\.caller)
    wait(caller, for: dependencies.map(\.finished), demand: Demand(), on: queue) { [context] () throws(FetchFailure) in
      let made = try FetchFailure.catching { try request(callers.compactMap(\.outcome)) }
      caller.adopt(made.priority)
      if let timeout = made.timeout { caller.limitTime(to: timeout, in: context) }
      return made
    }
    return DownloadToken(caller: caller, downloader: self)
  }

  /// Joins the download of `request`, at once or after everything that it waits for.
  func start(
    _ request: DownloadRequest, demand: Demand, after dependencies: [DownloadToken] = [], for caller: DownloadCaller
  ) {
    let (ready, milestones) = request.withoutMilestones()
    caller.enter(context, priority: demand.priority)
    defer { if let timeout = request.timeout { caller.limitTime(to: timeout, in: context) } }
    if milestones.isEmpty, dependencies.isEmpty { return context.join(ready, caller, demand: demand) }
    wait(caller, for: milestones + dependencies.map(\.finished), demand: demand) { () throws(FetchFailure) in ready }
  }

  /// Begins a download when all milestones are reached. `request` is called then, on `queue` or else on one that runs
  /// completions.
  func wait(
    _ caller: DownloadCaller, for milestones: [Milestone], demand: Demand, on queue: DispatchQueue? = nil,
    _ request: @escaping DownloadCaller.DeferredRequest
  ) {
    // These come first: if thread B cancels everything as soon as the caller is in the table, it must find the request,
    // to drop it, and the callers that count the priority of this one.
    caller.keep(request)
    caller.wait(for: milestones)
    context.wait(caller, demand: demand)
    context.begin(caller, after: milestones, on: queue ?? context.callbacks)
  }
}

extension DownloadContext {
  /// Begins the download of a waiting caller when all milestones are reached, those of its request included.
  fileprivate func begin(_ caller: DownloadCaller, after milestones: [Milestone], on queue: DispatchQueue) {
    Milestone.whenAllReached(milestones, on: queue) { [self] in
      caller.stopWaiting()
      guard let request = caller.takeRequest() else { return }
      do throws(FetchFailure) {
        let (ready, milestones) = try request().withoutMilestones()
        if milestones.isEmpty { return begin(ready, for: caller) }
        caller.keep { () throws(FetchFailure) in ready }
        caller.wait(for: milestones)
        begin(caller, after: milestones, on: queue)
      } catch {
        fail(caller, error)
      }
    }
  }
}

extension DownloadRequest {
  /// Separates the request from its milestones. A request must not keep the milestones that it waits for: one that
  /// nobody else can reach anymore must be released, and so count as reached.
  func withoutMilestones() -> (ready: DownloadRequest, milestones: [Milestone]) {
    var ready = self
    ready.after = []
    return (ready, after)
  }
}
