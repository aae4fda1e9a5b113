internal import Foundation
internal import Synchronization

/// Runs a batch: pulls elements while the window has room, delivers outcomes one at a time, and holds the completion
/// back until all are delivered.
final class BatchEngine<Element: Sendable>: Sendable {
  /// Receives one item, and acknowledges it when its place in the window is free.
  typealias Handler = @Sendable (BatchItem<Element>, _ acknowledge: @escaping @Sendable () -> Void) -> Void

  private typealias Request = @Sendable (Element) throws(FetchFailure) -> ThumbnailRequest

  private struct Closures {
    let request: Request
    let handler: Handler
  }

  private struct State {
    var batch: BatchState
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
  /// Used on the pulling queue only; the lock satisfies the compiler.
  private let next: Mutex<() -> Element?>
  /// Pulls elements, which may block: on standard input, for example.
  private let pulling = DispatchQueue(label: "thumbs.batch.pull")
  private let delivering: DispatchQueue

  init<Elements>(_ batch: Batch<Elements>, queue: DispatchQueue?, handler: @escaping Handler)
  where Elements.Element == Element {
    pipeline = batch.pipeline
    total = batch.total
    delivering = DispatchQueue(label: "thumbs.batch.deliver", target: queue)
    let closures = Closures(request: batch.request, handler: handler)
    state = Mutex(State(batch: BatchState(window: batch.window), closures: closures))
    let elements = batch.elements
    next = Mutex(Self.puller(of: elements))
  }

  private static func puller<Elements: Sequence>(of elements: Elements) -> () -> Element?
  where Elements.Element == Element {
    var iterator = elements.makeIterator()
    return { iterator.next() }
  }

  func start(completion: @escaping @Sendable (BatchSummary) -> Void) {
    group.enter()
    group.notify(queue: delivering) { [self] in
      completion(summary)
      release()
    }
    pulling.async { [self] in pull() }
  }

  func cancel() {
    let callers = state.withLock { state in
      state.batch.cancel() ? Array(state.callers.values) : []
    }
    close()
    for caller in callers { caller.cancel() }
  }

  /// Drops everything that the batch was given.
  private func release() {
    // Outside the lock: what a closure captured may run code when it is released.
    let closures = state.withLock { $0.closures.take() }
    _ = closures
    pulling.async { [self] in next.withLock { $0 = { nil } } }
  }

  private var summary: BatchSummary {
    state.withLock { state in
      BatchSummary(
        finished: state.batch.finished, failed: state.batch.failed, cancelled: state.batch.cancelled,
        isCancelled: state.batch.isCancelled)
    }
  }

  /// Begins elements while the window has room. A loop suffices, without recursion: outcomes arrive on another queue.
  private func pull() {
    while let index = state.withLock({ $0.batch.reserve() }) {
      guard let element = next.withLock({ $0() }) else { return close() }
      guard admit(index) else { return }
      begin(index, element)
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
  private func admit(_ index: Int) -> Bool {
    state.withLock { state in
      if state.batch.mayBegin { group.enter() }
      return state.batch.mayBegin
    }
  }

  private func begin(_ index: Int, _ element: Element) {
    guard let closures = state.withLock({ $0.closures }) else { return }
    do throws(FetchFailure) {
      var request = try closures.request(element)
      request.since = request.since ?? started
      let caller = pipeline.makeCaller(request, on: delivering) { [self] in deliver(index, element, $0) }
      // The caller is in `callers` before it starts, so that no cancellation misses it.
      let isCancelled = state.withLock { state in
        state.callers[index] = caller
        return state.batch.isCancelled
      }
      if isCancelled { caller.cancel() }
      caller.start(after: request.after)
    } catch {
      delivering.async { [self] in deliver(index, element, .failure(error)) }
    }
  }

  private func deliver(_ index: Int, _ element: Element, _ outcome: Result<ThumbnailSet, FetchFailure>) {
    let (finished, handler) = state.withLock { state in
      state.callers[index] = nil
      return (state.batch.deliver(BatchState.End(outcome)), state.closures?.handler)
    }
    let item = BatchItem(index: index, element: element, outcome: outcome, finished: finished, total: total)
    handler?(item) { [self] in
      if state.withLock({ $0.batch.release() }) {
        pulling.async { [self] in pull() }
      }
      group.leave()
    }
  }
}
