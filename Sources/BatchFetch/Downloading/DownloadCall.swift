internal import Foundation
internal import Synchronization

/// One caller of a download: what it is to be told, in order, and exactly one end.
final class DownloadCall: Sendable {
  typealias Wish = Downloader.Running.Wish

  /// Where the caller waits. Changed under the downloader's lock only.
  enum Place {
    /// For other downloads.
    case queued(Wish)
    /// In the table of running downloads.
    case joined(DownloadRequest.Key, UInt64)
    /// Nowhere: it has left.
    case left
  }

  private struct State {
    var mailbox = CallerMailbox()
    /// Nil after the end, as the completion is: a token that lives on must not keep what they captured.
    var progress: DownloadProgress.Handler?
    var completion: Downloader.Completion?
    var followers: [@Sendable () -> Void] = []
    var isOver = false
  }

  let place = Mutex(Place.queued(Wish()))
  let wantsProgress: Bool
  private let queue: DispatchQueue
  private let group: DispatchGroup
  private let state: Mutex<State>

  /// - Parameters:
  ///   - queue: where the closures are called, one at a time.
  ///   - group: entered until the completion has returned.
  init(
    progress: DownloadProgress.Handler?, completion: @escaping Downloader.Completion, on queue: DispatchQueue,
    in group: DispatchGroup
  ) {
    wantsProgress = progress != nil
    state = Mutex(State(progress: progress, completion: completion))
    self.queue = queue
    self.group = group
    group.enter()
  }

  /// How it ended; nil before the caller is told.
  var outcome: Result<Download, FetchFailure>? { state.withLock { $0.mailbox.outcome } }

  /// News, for who wants them.
  func offer(_ progress: DownloadProgress) {
    if wantsProgress { post { $0.offer(progress) } }
  }

  /// The end. Only the first one counts.
  func end(_ result: Result<Download, FetchFailure>) { post { $0.end(result) } }

  /// The end by the caller's own wish: it is told of no other, unless it is being told.
  func cancel() { post { $0.cancel() } }

  /// Runs `body` after the completion has returned; at once where it has.
  func whenOver(_ body: @escaping @Sendable () -> Void) {
    let isOver = state.withLock { state in
      if !state.isOver { state.followers.append(body) }
      return state.isOver
    }
    if isOver { body() }
  }

  private func post(_ event: (inout CallerMailbox) -> Bool) {
    if state.withLock({ event(&$0.mailbox) }) { queue.async { self.deliver() } }
  }

  private func deliver() {
    while let delivery = state.withLock({ $0.mailbox.next() }) {
      switch delivery {
      case .progress(let progress): state.withLock { $0.progress }?(progress)
      case .end(let result):
        tell(result)
        finish()
      }
    }
  }

  private func tell(_ result: Result<Download, FetchFailure>) {
    let (completion, progress) = state.withLock { ($0.completion.take(), $0.progress.take()) }
    completion?(result)
    // Let go here, outside the lock.
    _ = progress
  }

  private func finish() {
    let followers = state.withLock { state in
      state.isOver = true
      defer { state.followers = [] }
      return state.followers
    }
    for follower in followers { follower() }
    group.leave()
  }
}
