internal import Foundation

extension Downloader {
  /// Downloads the bytes of `request`, together with everyone else who wants them.
  ///
  /// - Throws: why there is no answer; `cancelled` when the task is cancelled.
  public func download(_ request: DownloadRequest) async throws(FetchFailure) -> Download {
    try await CancellableCall.result { completion in download(request, completion: completion).cancel }.get()
  }

  /// Returns when every download is finished and every completion has returned. Those that rest are not finished.
  public func waitUntilFinished() async {
    await withCheckedContinuation { continuation in
      group.notify(queue: callbacks) { continuation.resume() }
    }
  }
}
