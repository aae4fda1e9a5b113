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
    let token = makeToken(for: nil, on: queue, progress: progress, completion: completion)
    // The outcomes, not the tokens, which keep their downloaders alive: a downloader that is released cancels what is
    // paused, and must not be kept by those that wait for it.
    let (caller, outcome, outcomes) = (token.caller, token.outcome, dependencies.map(\.outcome))
    context.begin(caller, after: dependencies.map(\.finished), on: queue ?? context.callbacks) {
      [context] () throws(FetchFailure) in
      let made = try FetchFailure.catching { try request(outcomes.compactMap(\.result)) }
      outcome.begin(made.source.description)
      caller.adopt(made.priority)
      if let timeout = made.timeout { caller.limitTime(to: timeout, after: context.after) }
      return made
    }
    return token
  }

  /// Joins the download of `request`, at once or after everything that it waits for.
  func start(_ request: DownloadRequest, after dependencies: [DownloadToken] = [], for caller: Caller<Download>) {
    let (ready, milestones) = request.withoutMilestones()
    if let timeout = request.timeout { caller.limitTime(to: timeout, after: context.after) }
    if milestones.isEmpty, dependencies.isEmpty { return context.join(ready, caller) }
    context.begin(caller, after: milestones + dependencies.map(\.finished), on: context.callbacks) {
      () throws(FetchFailure) in ready
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
