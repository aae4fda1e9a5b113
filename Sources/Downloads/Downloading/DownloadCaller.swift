internal import Foundation
internal import Synchronization

/// One caller of a downloader: gets progress in order, then exactly one end.
final class DownloadCaller: DownloadSubscriber {
  /// Makes the request of a caller when its dependencies have ended.
  typealias DeferredRequest = @Sendable () throws(FetchFailure) -> DownloadRequest

  let inbox: Inbox<Download>
  private let queue: DispatchQueue
  private let group: DispatchGroup
  private let deferred = Mutex<DeferredRequest?>(nil)
  private let settled = Mutex<Result<Download, FetchFailure>?>(nil)
  private let priority = Mutex(CallerPriority())
  private let deadline = Deadline()
  /// Weak, because the context keeps its callers. Set once, before the caller has a token.
  private let context = Mutex(WeakContext())

  /// - Parameters:
  ///   - queue: where the closures are called, one at a time.
  ///   - group: entered until the completion has returned.
  init(
    progress: DownloadProgress.Handler?, completion: @escaping Downloader.Completion, on queue: DispatchQueue,
    in group: DispatchGroup
  ) {
    inbox = Inbox(progress: progress, completion: completion)
    self.queue = queue
    self.group = group
    group.enter()
  }

  var wantsProgress: Bool { inbox.wantsProgress }

  /// The outcome; nil before the completion is called.
  var outcome: Result<Download, FetchFailure>? { settled.withLock { $0 } }

  func progressed(_ progress: DownloadProgress) { post(inbox.offer(progress)) }

  func ended(_ result: Result<Download, FetchFailure>) {
    stopWaiting(forever: true)
    _ = takeRequest()
    post(inbox.end(result, complete: .complete(result)))
  }

  /// Makes `cancelled` the end, unless the completion is being called already.
  func cancel() {
    stopWaiting(forever: true)
    _ = takeRequest()
    post(inbox.cancel())
  }

  /// Ends the download for this caller with `timeout_total` after `limit`, unless it has ended by then. The caller must
  /// be in the table: one that joins after its end would keep a download alive.
  func limitTime(to limit: Duration, in context: DownloadContext) {
    deadline.set(to: limit, after: context.after) { [weak self, weak context] in
      guard let self else { return }
      ended(.failure(FetchFailure(pastDeadline: limit)))
      context?.leave(ObjectIdentifier(self))
    }
  }

  /// Keeps the request until the dependencies have ended or the caller has its end.
  func keep(_ request: @escaping DeferredRequest) { deferred.withLock { $0 = request } }

  /// Returns the request that was kept; nil after the first call, and after the end.
  func takeRequest() -> DeferredRequest? { deferred.withLock { $0.take() } }

  /// Joins the table of `context`, where its priority counts from now on.
  func enter(_ context: DownloadContext, priority: Priority) {
    self.context.withLock { $0.context = context }
    adopt(priority)
  }

  private func post(_ needsDelivery: Bool) {
    guard needsDelivery else { return }
    queue.async { [self] in
      let isOver = inbox.deliver { result in settled.withLock { $0 = result } }
      guard isOver else { return }
      deadline.cancel()
      group.leave()
    }
  }
}

extension DownloadCaller: PrioritizedCaller {
  func withPriority<Result: Sendable>(_ body: (inout CallerPriority) -> Result) -> Result {
    priority.withLock { body(&$0) }
  }

  func follow(_ priority: Priority) {
    context.withLock { $0.context }?.change(ObjectIdentifier(self)) { $0.priority = priority }
  }
}

/// A weak reference to the context of a caller.
private struct WeakContext: Sendable {
  weak var context: DownloadContext?
}

/// Someone who waits for a download: a caller of ``Downloader``, or a job of a pipeline.
package protocol DownloadSubscriber: AnyObject, Sendable {
  /// True if the subscriber needs progress.
  var wantsProgress: Bool { get }
  /// Called from any thread, not necessarily in order. Must not block.
  func progressed(_ progress: DownloadProgress)
  /// Called once for each download that the subscriber has joined and not left, from any thread. Must not block.
  func ended(_ result: Result<Download, FetchFailure>)
}
