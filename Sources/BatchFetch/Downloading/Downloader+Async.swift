internal import Foundation

extension Downloader {
  /// Downloads the bytes of `request`, together with everyone else who wants them.
  ///
  /// - Parameter progress: is told how far the download is.
  /// - Throws: why there is no answer; `cancelled` when the task is cancelled.
  public func download(
    _ request: DownloadRequest, progress: DownloadProgress.Handler? = nil
  ) async throws(FetchFailure) -> Download {
    try await CancellableCall.result { completion in
      download(request, progress: progress, completion: completion).cancel
    }.get()
  }

  /// Returns when every download is finished and every completion has returned. Those that rest are not finished.
  public func waitUntilFinished() async {
    await withCheckedContinuation { continuation in
      group.notify(queue: callbacks) { continuation.resume() }
    }
  }
}
