public import Foundation
internal import Synchronization

/// Controls one caller's part in a download that others may share. A token keeps the downloader and the outcome alive,
/// but not the closures of the caller.
///
/// ```swift
/// let token = downloader.download(request) { result in
///   print(result.map(\.body.count))
/// }
/// token.setPriority(.high)
/// token.pause()
/// token.resume()
/// token.cancel()
/// ```
public struct DownloadToken: Sendable {
  let caller: Caller<Download>
  let outcome: Outcome
  let downloader: Downloader

  /// The outcome for this caller; nil before its completion is called.
  public var result: Result<Download, FetchFailure>? { outcome.result }

  /// A milestone that is reached after the completion of this caller has returned. Other requests can wait for it.
  public var finished: Milestone { caller.inbox.finished(of: caller) }

  /// Cancels the download for this caller. Its completion gets `cancelled`, unless it is being called already. The
  /// last caller to leave cancels the download itself.
  public func cancel() { caller.cancel() }

  /// Changes the priority for this caller. The highest priority among the callers of a download counts, and that of the
  /// requests that wait for ``finished``.
  public func setPriority(_ priority: Priority) { caller.setPriority(priority) }

  /// Pauses the download for this caller. When all callers have paused, the connection is closed, the bytes received
  /// are kept in memory, and other downloads from the host take its place.
  public func pause() { caller.slot.setPaused(true) }

  /// Resumes the download for this caller. It waits in the queue of its host, and then continues where it stopped if
  /// the server sent a strong validator (RFC 9110, section 8.8.1) and the content is unchanged; otherwise it starts
  /// over.
  public func resume() { caller.slot.setPaused(false) }
}

extension DownloadToken {
  /// The outcome of a caller, once it is known.
  final class Outcome: Sendable {
    private struct State {
      var url: String?
      var result: Result<Download, FetchFailure>?
    }

    private let state: Mutex<State>

    /// - Parameter url: The URL of the request; nil if the request is not made yet.
    init(of url: String?) { state = Mutex(State(url: url)) }

    var result: Result<Download, FetchFailure>? { state.withLock { $0.result } }

    /// Sets the URL of a request that is made late.
    func begin(_ url: String) { state.withLock { $0.url = url } }

    /// Sets the result, with the URL if it is a failure, and returns it.
    func end(_ result: Result<Download, FetchFailure>) -> Result<Download, FetchFailure> {
      state.withLock { state in
        let result = result.mapError { $0.about(state.url) }
        state.result = result
        return result
      }
    }
  }
}

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
      let token = downloader.makeToken(
        demand, for: request.source.description, progress: progress, completion: completion)
      downloader.start(request, for: token.caller)
      return WorkHandle(token)
    }
    name = request.source.description
  }

  /// Creates an operation that downloads the bytes of `request` into a file, as
  /// ``Downloader/download(_:to:expecting:after:on:progress:completion:)`` does. It does nothing before its queue
  /// starts it.
  ///
  /// ```swift
  /// let operation = DownloadOperation(request, to: file, expecting: ExpectedFile(digest: digest), over: downloader)
  /// queue.addOperation(operation)
  /// ```
  ///
  /// - Parameters:
  ///   - request: the bytes to download.
  ///   - file: the file. Its directory must exist.
  ///   - expected: the content that it must have. Default: any.
  ///   - downloader: downloads the bytes.
  ///   - progress: receives progress, never after the operation has finished. Default: none.
  public init(
    _ request: DownloadRequest, to file: URL, expecting expected: ExpectedFile = ExpectedFile(),
    over downloader: Downloader, progress: DownloadProgress.Handler? = nil
  ) {
    super.init(priority: request.priority, progress: progress) { demand, progress, completion in
      let token = downloader.makeToken(
        demand, for: request.source.description, progress: progress, completion: completion)
      downloader.start(request, to: file, expecting: expected, after: [], for: token.caller)
      return WorkHandle(token)
    }
    name = request.source.description
  }
}
