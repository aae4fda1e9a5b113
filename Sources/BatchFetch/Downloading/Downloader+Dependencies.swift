internal import Foundation
internal import Synchronization

extension Downloader {
  /// The outcomes of the downloads that one waited for, in the order they were given.
  public typealias Outcomes = [Result<Download, FetchFailure>]

  /// A download whose request depends on what other downloads brought: a package, say, whose address is in a
  /// configuration file.
  ///
  /// - Parameters:
  ///   - dependencies: downloads to wait for, as in ``download(_:after:progress:completion:)``.
  ///   - progress: is told how far the download is, never after `completion` was called.
  ///   - request: called once, after the completions of all dependencies have returned, unless the caller has left by
  ///     then. Its failure is the caller's end; whether that of a dependency is one, it decides.
  ///   - completion: called exactly once, on a queue of the downloader.
  @discardableResult
  public func download(
    after dependencies: [DownloadToken], progress: DownloadProgress.Handler? = nil,
    request: @escaping @Sendable (Outcomes) throws(FetchFailure) -> DownloadRequest, completion: @escaping Completion
  ) -> DownloadToken {
    let call = DownloadCall(progress: progress, completion: completion, on: callbacks, in: group)
    enqueue(call, after: dependencies) { [self] outcomes throws(FetchFailure) in
      let request = try request(outcomes)
      change(call) { $0.priority = request.priority }
      return request
    }
    return DownloadToken(call: call, downloader: self)
  }

  func enqueue(
    _ call: DownloadCall, after dependencies: [DownloadToken],
    _ request: @escaping @Sendable (Outcomes) throws(FetchFailure) -> DownloadRequest
  ) {
    state.withLock { $0.queued[ObjectIdentifier(call)] = call }
    let waiting = DispatchGroup()
    for dependency in dependencies {
      waiting.enter()
      dependency.call.whenOver { waiting.leave() }
    }
    // Let go when the caller has its end: one that was cancelled must not be kept by what it waited for.
    let pending = Pending(request)
    call.whenOver { pending.take() }
    waiting.notify(queue: callbacks) { [self] in
      guard case .queued = call.place.withLock({ $0 }), let request = pending.take() else { return }
      do throws(FetchFailure) {
        join(try request(dependencies.compactMap(\.result)), call)
      } catch {
        leave(call, error)
      }
    }
  }

  /// A download whose request is made when its dependencies are over.
  private final class Pending: Sendable {
    typealias Request = @Sendable (Outcomes) throws(FetchFailure) -> DownloadRequest

    private let request: Mutex<Request?>

    init(_ request: @escaping Request) { self.request = Mutex(request) }

    /// Nil after the first call.
    @discardableResult func take() -> Request? { request.withLock { $0.take() } }
  }

  /// The end of a caller who never got to a download.
  func leave(_ call: DownloadCall, _ failure: FetchFailure) {
    state.withLock { state in
      state.queued[ObjectIdentifier(call)] = nil
      call.place.withLock { $0 = .left }
    }
    call.end(.failure(failure))
  }
}
