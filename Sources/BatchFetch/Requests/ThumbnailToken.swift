internal import Foundation

/// Controls one caller's part in a request for thumbnails that others may share. A token keeps its pipeline alive, but
/// neither the thumbnails nor the closures of the request.
///
/// ```swift
/// let token = pipeline.load(request) { result in
///   print(result.map(\.thumbnails.count))
/// }
/// token.setPriority(.high)
/// token.cancel()
/// ```
public struct ThumbnailToken: Sendable {
  let caller: Caller<ThumbnailSet>

  /// A milestone that is reached after the completion of this caller has returned. Other requests can wait for it.
  public var finished: Milestone { caller.inbox.finished(of: caller) }

  /// Cancels the request for this caller. Its completion gets `cancelled`, unless it is being called already. The last
  /// caller to leave cancels the work itself.
  public func cancel() { caller.cancel() }

  /// Changes the priority for this caller, wherever its request waits. The highest priority among the callers of an
  /// image counts, and that of the requests that wait for ``finished``.
  public func setPriority(_ priority: Priority) { caller.setPriority(priority) }

  /// Pauses the download of the image for this caller, now or when it begins. When all callers have paused, the
  /// connection is closed, and the bytes received are kept; see ``DownloadToken/pause()``. Thumbnails that are in the
  /// cache are served nevertheless.
  public func pause() { caller.slot.setPaused(true) }

  /// Resumes the download for this caller.
  public func resume() { caller.slot.setPaused(false) }
}

extension WorkHandle {
  /// The handle of a request for thumbnails.
  init(_ token: ThumbnailToken) {
    self.init(cancel: token.cancel, setPriority: token.setPriority) { $0 ? token.pause() : token.resume() }
  }
}

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
      let caller = pipeline.makeCaller(request, progress: progress, completion: completion)
      // Before the start: once it has started, another thread may begin the download at once.
      if demand.isPaused { caller.caller.slot.setPaused(true) }
      caller.start(after: request.after)
      return WorkHandle(ThumbnailToken(caller: caller.caller))
    }
    name = request.url
  }
}
