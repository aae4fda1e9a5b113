internal import Foundation
internal import Synchronization

/// Runs a batch: pulls elements while the window has room, parks those whose host is busy, delivers outcomes one at a
/// time, and holds the completion back until all are delivered.
final class BatchEngine<Element: Sendable>: Sendable {
  /// Receives one item, and acknowledges it when its place in the window is free.
  typealias Handler = @Sendable (BatchItem<Element>, _ acknowledge: @escaping @Sendable () -> Void) -> Void

  private typealias Request = @Sendable (Element) throws(FetchFailure) -> ThumbnailRequest
  private typealias Pulled = PulledElement<Element>
  private typealias Pending = PendingElement<Element>

  private struct Closures {
    let request: Request
    let begin: @Sendable (Element) -> Void
    let handler: Handler
  }

  private struct State {
    var batch: BatchState<Pending>
    /// The callers in flight, by index.
    var callers: [Int: ThumbnailCaller] = [:]
    /// Nil after the end: a batch that someone still holds must not keep what they captured.
    var closures: Closures?
  }

  /// Entered once while elements are pulled, and once for each element until it is acknowledged.
  let group = DispatchGroup()
  private let pipeline: ThumbnailPipeline
  private let total: Int?
  private let started = ContinuousClock.now
  private let state: Mutex<State>
  private let source: ElementSource<Element>
  /// Begins parked elements: pulling may block, and the delivery is busy.
  private let beginning = WorkQueue(label: "thumbs.batch.begin", width: 1)
  private let delivering: DispatchQueue

  /// - Parameters:
  ///   - queue: where `handler` is called. Default of nil: a queue of the batch.
  ///   - begin: called with each element that begins.
  ///   - handler: called with each item.
  init<Elements>(
    _ batch: Batch<Elements>, queue: DispatchQueue?, begin: @escaping @Sendable (Element) -> Void,
    handler: @escaping Handler
  ) where Elements.Element == Element {
    pipeline = batch.pipeline
    total = batch.total
    delivering = DispatchQueue(label: "thumbs.batch.deliver", target: queue)
    let closures = Closures(request: batch.request, begin: begin, handler: handler)
    let state = BatchState<Pending>(
      window: batch.window, lookahead: Batch<Elements>.lookahead, perHost: batch.pipeline.context.requestsPerHost)
    self.state = Mutex(State(batch: state, closures: closures))
    source = ElementSource(batch.elements)
  }

  func start(completion: @escaping @Sendable (BatchSummary) -> Void) {
    group.enter()
    group.notify(queue: delivering) { [self] in
      completion(summary)
      release()
    }
    source.async { [self] in pull() }
  }

  func cancel() {
    let (callers, parked) = state.withLock { state -> ([ThumbnailCaller], [Pending]) in
      guard let parked = state.batch.cancel() else { return ([], []) }
      return (Array(state.callers.values), parked)
    }
    close()
    pipeline.context.downloader.context.queue.whileHeld { for caller in callers { caller.cancel() } }
    for pending in parked.sorted(by: { $0.pulled.index < $1.pulled.index }) {
      delivering.async { [self] in deliver(pending.pulled, .failure(.cancelled)) }
    }
  }

  /// Drops everything that the batch was given.
  private func release() {
    // Outside the lock: what a closure captured may run code when it is released.
    let closures = state.withLock { $0.closures.take() }
    _ = closures
    source.release()
  }

  private var summary: BatchSummary {
    state.withLock { state in
      BatchSummary(
        finished: state.batch.finished, failed: state.batch.failed, cancelled: state.batch.cancelled,
        isCancelled: state.batch.isCancelled)
    }
  }

  /// Pulls elements while the window has room. A loop suffices, without recursion: outcomes arrive on another queue.
  private func pull() {
    while let index = state.withLock({ $0.batch.reserve() }) {
      guard let element = source.pull() else { return close() }
      guard admit() else { return }
      take(index, element)
    }
  }

  private func close() {
    if state.withLock({ $0.batch.close() }) { group.leave() }
  }

  /// Enters the group for an element, unless the batch was canceled while the element was pulled.
  ///
  /// Under the lock: thread A enters the group here while thread B cancels the batch and leaves the group on behalf of
  /// the pulling. If the group became empty in between, the completion would be called before the outcome of this
  /// element.
  private func admit() -> Bool {
    state.withLock { state in
      if state.batch.mayBegin { group.enter() }
      return state.batch.mayBegin
    }
  }

  /// Makes the request of an element, and begins the element or parks it.
  private func take(_ index: Int, _ element: Element) {
    guard let closures = state.withLock({ $0.closures }) else { return }
    let epoch = pipeline.context.epoch.load(ordering: .acquiring)
    do throws(FetchFailure) {
      var request = try closures.request(element)
      request.since = request.since ?? started
      let pending = Pending(index, element, request, epoch: epoch)
      let begins = state.withLock { state in
        state.batch.begin(pending, host: pending.pulled.host, priority: pending.request.priority)
      }
      if begins { begin(pending) }
    } catch {
      let pulled = Pulled(index: index, element: element)
      delivering.async { [self] in deliver(pulled, .failure(error)) }
    }
  }

  private func begin(_ pending: Pending) {
    guard let closures = state.withLock({ $0.closures }) else { return }
    let pulled = pending.pulled
    closures.begin(pulled.element)
    let caller = pipeline.makeCaller(pending.request, on: delivering) { [self] in deliver(pulled, $0) }
    // The caller is in `callers` before it starts, so that no cancellation misses it.
    let isCancelled = state.withLock { state in
      state.callers[pulled.index] = caller
      return state.batch.isCancelled
    }
    // If the epochs differ, `cancelAll()` of the pipeline was called while the element was parked.
    if isCancelled || caller.epoch != pending.epoch { caller.cancel() }
    caller.start(after: pending.request.after)
  }

  private func deliver(_ pulled: Pulled, _ outcome: Result<ThumbnailSet, FetchFailure>) {
    let (finished, handler) = state.withLock { state in
      state.callers[pulled.index] = nil
      return (state.batch.deliver(.init(outcome)), state.closures?.handler)
    }
    let item = BatchItem(
      index: pulled.index, element: pulled.element, outcome: outcome, finished: finished, total: total)
    handler?(item) { [self] in
      free(pulled.host, isCached: outcome.isCached)
      group.leave()
    }
  }

  /// Frees the place of an element, and begins what follows.
  private func free(_ host: String?, isCached: Bool) {
    let freed = state.withLock { $0.batch.release(host: host, isCached: isCached) }
    if !freed.next.isEmpty { beginning.async { [self] in for pending in freed.next { begin(pending) } } }
    if freed.resumesPulling { source.async { [self] in pull() } }
  }
}

extension Result<ThumbnailSet, FetchFailure> {
  /// True if the thumbnails are from the cache, without a request.
  fileprivate var isCached: Bool {
    guard case .success(let set) = self else { return false }
    return set.origin == .memory || set.origin == .disk
  }
}
