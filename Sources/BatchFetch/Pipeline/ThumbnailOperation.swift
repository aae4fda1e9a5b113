internal import Foundation

/// A request for thumbnails as an `Operation`, for any operation queue.
///
/// It shares its download and its decoding with all other callers of the same pipeline that request the same image. The
/// operation can depend on any operation, and any operation on it.
///
/// ```swift
/// let operation = ThumbnailOperation(ThumbnailRequest(url: url, size: 128), over: pipeline)
/// operation.addDependency(login)
/// operation.queuePriority = .veryHigh
/// queue.addOperation(operation)
/// ```
///
/// Foundation declares `Operation` as `@unchecked Sendable`, and subclasses must repeat that. It holds here: this class
/// adds nothing that can change.
public final class ThumbnailOperation: FetchOperation<ThumbnailSet>, @unchecked Sendable {
  /// Creates an operation that requests thumbnails. It does nothing before its queue starts it.
  ///
  /// - Parameters:
  ///   - request: the image and the sizes.
  ///   - pipeline: fetches and renders the image.
  ///   - progress: receives the progress of the download, if there is one, and never after the operation has finished.
  ///     Default: none.
  public init(
    _ request: ThumbnailRequest, over pipeline: ThumbnailPipeline, progress: DownloadProgress.Handler? = nil
  ) {
    super.init(priority: request.priority, progress: progress) { demand, progress, completion in
      var request = request
      request.priority = demand.priority
      return WorkHandle(pipeline.load(request, progress: progress, completion: completion))
    }
    name = request.url
  }
}
