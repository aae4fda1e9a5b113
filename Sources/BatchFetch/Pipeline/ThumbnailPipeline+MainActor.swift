internal import Dispatch

extension ThumbnailPipeline {
  /// Requests thumbnails for code of the main actor, such as a view.
  ///
  /// ```swift
  /// let token = pipeline.load(request, isolation: MainActor.shared) { outcome in
  ///   self.icon = try? outcome.get().thumbnails[0]
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - request: the image and the sizes.
  ///   - actor: the main actor, on which the closures are called, one at a time.
  ///   - progress: receives the progress of the download, if there is one, and never after `completion` was called.
  ///     Default: none.
  ///   - completion: called exactly once, never before this returns; with `cancelled` after
  ///     ``ThumbnailToken/cancel()``.
  @discardableResult
  public func load(
    _ request: ThumbnailRequest, isolation actor: MainActor, progress: (@MainActor (DownloadProgress) -> Void)? = nil,
    completion: @escaping @MainActor (Result<ThumbnailSet, FetchFailure>) -> Void
  ) -> ThumbnailToken {
    load(
      request, on: .main, progress: MainHandler.calling(ifAny: progress), completion: MainHandler.calling(completion))
  }
}
