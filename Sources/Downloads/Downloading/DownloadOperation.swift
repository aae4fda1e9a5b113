internal import Foundation

/// A download as an `Operation`, for any operation queue.
///
/// It shares the download with all other callers of the same downloader that request the same bytes. The limits of that
/// downloader apply in addition to the width of the queue. The operation can depend on any operation, and any operation
/// on it.
///
/// ```swift
/// let operation = DownloadOperation(request, over: downloader) { progress in
///   print(progress.fraction ?? 0)
/// }
/// let report = BlockOperation {
///   print(operation.result?.map(\.body.count) as Any)
/// }
/// report.addDependency(operation)
/// queue.addOperation(operation)
/// queue.addOperation(report)
/// ```
///
/// Foundation declares `Operation` as `@unchecked Sendable`, and subclasses must repeat that. It holds here: this class
/// adds nothing that can change.
public final class DownloadOperation: FetchOperation<Download>, @unchecked Sendable {
  /// Creates an operation that downloads the bytes of `request`. It does nothing before its queue starts it.
  ///
  /// - Parameters:
  ///   - request: the bytes to download.
  ///   - downloader: downloads the bytes.
  ///   - progress: receives progress, never after the operation has finished. Default: none.
  public init(
    _ request: DownloadRequest, over downloader: Downloader, progress: DownloadProgress.Handler? = nil
  ) {
    super.init(priority: request.priority, progress: progress) { demand, progress, completion in
      let caller = downloader.makeCaller(progress: progress, completion: completion)
      downloader.start(request, demand: demand, for: caller)
      return WorkHandle(DownloadToken(caller: caller, downloader: downloader))
    }
    name = request.source.description
  }
}
