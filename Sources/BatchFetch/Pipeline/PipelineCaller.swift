internal import Foundation
internal import ImageCache
internal import Synchronization

/// Someone who waits for thumbnails: what is wanted, and the one end that is told.
final class PipelineCaller: Sendable {
  private struct State {
    /// Nil when it was called: a token that lives on must not keep what it captured.
    var completion: ThumbnailPipeline.Completion?
    var isCancelled = false
  }

  let specs: [ThumbnailSpec]
  let since: ContinuousClock.Instant?
  private let queue: DispatchQueue
  private let state: Mutex<State>

  init(_ request: ThumbnailRequest, on queue: DispatchQueue, completion: @escaping ThumbnailPipeline.Completion) {
    specs = request.specs
    since = request.since
    self.queue = queue
    state = Mutex(State(completion: completion))
  }

  /// Calls the completion on its queue. Only whoever took the caller out of the table does so.
  func end(_ outcome: Result<ThumbnailSet, FetchFailure>) {
    queue.async { [self] in
      let (completion, isCancelled) = state.withLock { state in
        defer { state.completion = nil }
        return (state.completion, state.isCancelled)
      }
      completion?(isCancelled ? .failure(.cancelled) : outcome)
    }
  }

  /// Whatever end is on its way becomes `cancelled`: after a cancel has returned, nobody is told of a success.
  func cancel() { state.withLock { $0.isCancelled = true } }

  /// The hold on what has its end already.
  var token: FetchToken { FetchToken(cancel: { self.cancel() }, setPriority: { _ in }) }
}
