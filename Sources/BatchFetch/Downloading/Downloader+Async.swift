extension Downloader {
  /// Downloads the bytes of `request`, together with everyone else who wants them.
  ///
  /// - Throws: why there is no answer; `cancelled` when the task is cancelled.
  public func download(_ request: DownloadRequest) async throws(FetchFailure) -> Download {
    try await CancellableCall.result { completion in download(request, completion: completion).cancel }.get()
  }
}
