internal import Foundation

/// A request for thumbnails as an `Operation`, for any operation queue.
///
/// It shares its download and its decoding with all other callers of the same pipeline that request the same image. The
/// operation can depend on any operation, and any operation on it.
///
/// ```swift
/// let operation = ThumbnailOperation(ThumbnailRequest(url: url, size: 128), over: pipeline)
/// operation.completionBlock = { [unowned operation] in
///   print(operation.result?.map(\.thumbnails.count) as Any)
/// }
/// queue.addOperation(operation)
/// operation.queuePriority = .veryHigh
/// ```
///
/// The superclass makes this class `@unchecked Sendable`; it adds nothing that can change.
public final class ThumbnailOperation: FetchOperation<ThumbnailSet>, @unchecked Sendable {
  /// Creates an operation that requests thumbnails. It does nothing before its queue starts it.
  ///
  /// - Parameters:
  ///   - pipeline: what fetches and renders.
  ///   - progress: receives the progress of the download, if there is one, and never after the operation has finished.
  ///     Default: none.
  public init(
    _ request: ThumbnailRequest, over pipeline: ThumbnailPipeline, progress: DownloadProgress.Handler? = nil
  ) {
    super.init(priority: request.priority, progress: progress) { priority, milestone, progress, completion in
      var request = request
      request.priority = priority
      if let milestone { request.after.append(milestone) }
      return WorkHandle(pipeline.load(request, progress: progress, completion: completion))
    }
    name = request.url
  }
}
