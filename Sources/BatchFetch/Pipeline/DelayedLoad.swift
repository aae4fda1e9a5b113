internal import Foundation
internal import Synchronization

/// A request that waits for milestones before it begins.
final class DelayedLoad: Sendable {
  /// The request without what it waits for: a milestone that is never reached must not be kept by its own waiters.
  private let request: ThumbnailRequest
  private let pipeline: ThumbnailPipeline
  private let queue: DispatchQueue
  /// Nil when it was called: a token that lives on must not keep what it captured.
  private let completion: Mutex<ThumbnailPipeline.Completion?>
  private let relay: LoadRelay
  /// Whether the waiting is over: the request has begun, or was cancelled before.
  private let isDecided = Atomic(false)

  init(
    _ request: ThumbnailRequest, over pipeline: ThumbnailPipeline, on queue: DispatchQueue,
    completion: @escaping ThumbnailPipeline.Completion
  ) {
    var ready = request
    ready.after = []
    self.request = ready
    self.pipeline = pipeline
    self.queue = queue
    self.completion = Mutex(completion)
    relay = LoadRelay(priority: request.priority)
  }

  /// Begins to wait for `milestones`.
  func start(after milestones: [Milestone]) -> FetchToken {
    wait(for: milestones)
    return FetchToken(cancel: { self.cancel() }, setPriority: { self.relay.setPriority($0) })
  }

  private func wait(for milestones: [Milestone]) {
    guard let next = milestones.last else { return begin() }
    let others = Array(milestones.dropLast())
    next.whenReached { [self] in wait(for: others) }
  }

  /// True for the first call only: either the load or the cancel tells the outcome.
  private func decide() -> Bool {
    guard isDecided.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged else {
      return false
    }
    pipeline.forget(self)
    return true
  }

  private func begin() {
    guard decide() else { return }
    relay.begin { priority, round in
      var request = request
      request.priority = priority
      return pipeline.load(request, on: queue) { [self] outcome in
        relay.end(round)
        // After a cancel has returned, nobody is told of a success.
        tell(relay.isCancelled ? .failure(.cancelled) : outcome)
      }
    }
  }

  private func tell(_ outcome: Result<ThumbnailSet, FetchFailure>) {
    completion.withLock { $0.take() }?(outcome)
  }

  /// Tells `cancelled`, now or as the end of what was begun.
  func cancel() {
    if decide() { queue.async { [self] in tell(.failure(.cancelled)) } }
    relay.cancel()
  }
}
