internal import Foundation
internal import Synchronization

/// Runs a batch: pulls elements while the window has room, tells outcomes one at a time, and keeps the group that holds
/// the completion back.
final class BatchEngine<Element: Sendable>: Sendable {
  /// Hears of one item, and acknowledges it when its place may be given to the next.
  typealias Handler = @Sendable (BatchItem<Element>, _ acknowledge: @escaping @Sendable () -> Void) -> Void

  private struct State {
    var batch: BatchState
    /// What to cancel, by index. A place is taken before its request is made: nil until then.
    var tasks: [Int: FetchToken?] = [:]
  }

  /// Entered once for the pulling, and once for every element until it is acknowledged.
  let group = DispatchGroup()
  private let pipeline: ThumbnailPipeline
  private let total: Int?
  private let request: @Sendable (Element) throws(FetchFailure) -> ThumbnailRequest
  private let handler: Handler
  private let started = ContinuousClock.now
  private let state: Mutex<State>
  /// Only the pulling queue pulls; the lock is for the compiler.
  private let next: Mutex<() -> Element?>
  /// Pulling may block, on standard input for one.
  private let pulling = DispatchQueue(label: "thumbs.batch.pull")
  private let telling: DispatchQueue

  init<Elements>(_ batch: Batch<Elements>, queue: DispatchQueue?, handler: @escaping Handler)
  where Elements.Element == Element {
    pipeline = batch.pipeline
    total = batch.total
    request = batch.request
    self.handler = handler
    telling = DispatchQueue(label: "thumbs.batch.tell", target: queue)
    state = Mutex(State(batch: BatchState(window: batch.window)))
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
    group.notify(queue: telling) { [self] in completion(summary) }
    pulling.async { [self] in pull() }
  }

  func cancel() {
    let tasks = state.withLock { state in
      guard state.batch.cancel() else { return [FetchToken]() }
      return state.tasks.values.compactMap { $0 }
    }
    close()
    for task in tasks { task.cancel() }
  }

  private var summary: BatchSummary {
    state.withLock { state in
      BatchSummary(
        finished: state.batch.finished, failed: state.batch.failed, cancelled: state.batch.cancelled,
        isCancelled: state.batch.isCancelled)
    }
  }

  /// Begins elements as long as there is room. A loop, however quickly they end: outcomes come on another queue.
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

  /// Inside the lock: the group must be entered for the element before a cancel can leave it for the pulling.
  private func admit(_ index: Int) -> Bool {
    state.withLock { state in
      guard state.batch.mayBegin else { return false }
      state.tasks.updateValue(nil, forKey: index)
      group.enter()
      return true
    }
  }

  private func begin(_ index: Int, _ element: Element) {
    do throws(FetchFailure) {
      var request = try request(element)
      request.since = request.since ?? started
      let task = pipeline.load(request, on: telling) { [self] in tell(index, element, $0) }
      let isCancelled = state.withLock { state in
        if state.tasks[index] != nil { state.tasks[index] = task }
        return state.batch.isCancelled
      }
      // A cancel that came before the task was known has cancelled nothing yet.
      if isCancelled { task.cancel() }
    } catch {
      telling.async { [self] in tell(index, element, .failure(error)) }
    }
  }

  private func tell(_ index: Int, _ element: Element, _ outcome: Result<ThumbnailSet, FetchFailure>) {
    let finished = state.withLock { state in
      state.tasks[index] = nil
      return state.batch.deliver(BatchState.End(outcome))
    }
    let item = BatchItem(index: index, element: element, outcome: outcome, finished: finished, total: total)
    handler(item) { [self] in
      if state.withLock({ $0.batch.release() }) {
        pulling.async { [self] in pull() }
      }
      group.leave()
    }
  }
}
