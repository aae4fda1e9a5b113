internal import Foundation

extension Downloader {
  /// The outcomes of the downloads that another one waited for, in the given order.
  public typealias Outcomes = [Result<Download, FetchFailure>]

  /// Starts a download whose request depends on the outcomes of others: a package, for example, whose URL is in a
  /// configuration file.
  ///
  /// - Parameters:
  ///   - dependencies: downloads to wait for, as in ``download(_:after:progress:completion:)``.
  ///   - progress: receives progress, never after `completion` was called.
  ///   - request: called once, after the completions of all dependencies have returned, unless the caller has left. It
  ///     decides if the failure of a dependency matters; if it throws, the download fails with that failure.
  ///   - completion: called exactly once, on a queue of the downloader.
  @discardableResult
  public func download(
    after dependencies: [DownloadToken], progress: DownloadProgress.Handler? = nil,
    request: @escaping @Sendable (Outcomes) throws(FetchFailure) -> DownloadRequest, completion: @escaping Completion
  ) -> DownloadToken {
    let caller = makeCaller(progress: progress, completion: completion)
    context.wait(caller)
    wait(caller, for: dependencies.map(\.finished)) { [context] () throws(FetchFailure) in
      let request = try request(dependencies.compactMap(\.result))
      context.change(ObjectIdentifier(caller)) { $0.priority = request.priority }
      return request
    }
    return DownloadToken(caller: caller, downloader: self)
  }

  /// Joins the download of `request`, at once or after everything that it waits for.
  func start(_ request: DownloadRequest, after dependencies: [DownloadToken] = [], for caller: DownloadCaller) {
    let milestones = request.after + dependencies.map(\.finished)
    if milestones.isEmpty { return context.join(request, caller, priority: request.priority) }
    context.wait(caller, priority: request.priority)
    wait(caller, for: milestones) { () throws(FetchFailure) in request }
  }

  private func wait(
    _ caller: DownloadCaller, for milestones: [Milestone], _ request: @escaping DownloadCaller.DeferredRequest
  ) {
    caller.defer(request)
    Milestone.whenAllReached(milestones, on: context.callbacks) { [context] in
      guard let request = caller.takeDeferred() else { return }
      do throws(FetchFailure) {
        context.begin(try request(), for: caller)
      } catch {
        context.fail(caller, error)
      }
    }
  }
}
