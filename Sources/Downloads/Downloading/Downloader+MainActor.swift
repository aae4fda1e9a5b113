public import Foundation

// Downloads for code of the main actor, such as a view.
extension Downloader {
  /// Starts a download, or joins the one in flight, for code of the main actor.
  ///
  /// ```swift
  /// let token = downloader.download(request, isolation: MainActor.shared) { progress in
  ///   self.fraction = progress.fraction
  /// } completion: { result in
  ///   self.body = try? result.get().body
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - request: the bytes to download.
  ///   - dependencies: downloads to wait for, as in ``download(_:after:on:progress:completion:)``. Default: none.
  ///   - actor: the main actor, on which the closures are called, one at a time.
  ///   - progress: receives progress, never after `completion` was called. Default: none.
  ///   - completion: called exactly once; with `cancelled` after ``DownloadToken/cancel()``.
  @discardableResult
  public func download(
    _ request: DownloadRequest, after dependencies: [DownloadToken] = [], isolation actor: MainActor,
    progress: (@MainActor (DownloadProgress) -> Void)? = nil,
    completion: @escaping @MainActor (Result<Download, FetchFailure>) -> Void
  ) -> DownloadToken {
    download(
      request, after: dependencies, on: .main, progress: MainHandler.calling(ifAny: progress),
      completion: MainHandler.calling(completion))
  }

  /// Starts a download into a file, or joins the one in flight, for code of the main actor.
  ///
  /// - Parameters:
  ///   - request: the bytes to download.
  ///   - file: the file. Its directory must exist.
  ///   - expected: the content that it must have. Default: any.
  ///   - dependencies: downloads to wait for. Default: none.
  ///   - actor: the main actor, on which the closures are called, one at a time.
  ///   - progress: receives progress, never after `completion` was called. Default: none.
  ///   - completion: called exactly once, as in ``download(_:to:expecting:after:on:progress:completion:)``.
  @discardableResult
  public func download(
    _ request: DownloadRequest, to file: URL, expecting expected: ExpectedFile = ExpectedFile(),
    after dependencies: [DownloadToken] = [], isolation actor: MainActor,
    progress: (@MainActor (DownloadProgress) -> Void)? = nil,
    completion: @escaping @MainActor (Result<Download, FetchFailure>) -> Void
  ) -> DownloadToken {
    download(
      request, to: file, expecting: expected, after: dependencies, on: .main,
      progress: MainHandler.calling(ifAny: progress), completion: MainHandler.calling(completion))
  }

  /// Starts a download whose request depends on the outcomes of others, for code of the main actor.
  ///
  /// - Parameters:
  ///   - dependencies: downloads to wait for.
  ///   - actor: the main actor, on which the closures are called, one at a time.
  ///   - progress: receives progress, never after `completion` was called. Default: none.
  ///   - request: called once, as in ``download(after:on:progress:request:completion:)``.
  ///   - completion: called exactly once.
  @discardableResult
  public func download(
    after dependencies: [DownloadToken], isolation actor: MainActor,
    progress: (@MainActor (DownloadProgress) -> Void)? = nil,
    request: @escaping @MainActor (Outcomes) throws -> DownloadRequest,
    completion: @escaping @MainActor (Result<Download, FetchFailure>) -> Void
  ) -> DownloadToken {
    download(
      after: dependencies, on: .main, progress: MainHandler.calling(ifAny: progress),
      request: { outcomes in try MainActor.assumeIsolated { try request(outcomes) } },
      completion: MainHandler.calling(completion))
  }
}
