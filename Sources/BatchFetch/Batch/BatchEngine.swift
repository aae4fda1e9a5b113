internal import Foundation
internal import Synchronization

/// Runs a batch: pulls elements while the window has room, parks those whose host is busy, delivers outcomes one at a
/// time, and holds the completion back until all are delivered.
final class BatchEngine: Sendable {
  fileprivate struct State {
    var batch: BatchState<PendingElement>
    /// The callers in flight, by index.
    var callers: [Int: ThumbnailCaller] = [:]
    /// Nil if nobody wants progress.
    var meter: BatchMeter?
    /// Nil after the end.
    var progress: BatchProgress.Handler?
    /// The outcomes that wait for their delivery.
    var outcomes: [Outcome] = []
    /// True while a delivery is scheduled or runs.
    var isDelivering = false
    /// The parked elements that begin after the delivery.
    var next: [PendingElement] = []
    /// The priority of all elements; nil for those of their requests.
    var priority: Priority?
    /// True if the downloads of all elements are paused.
    var isPaused = false
  }

  /// An outcome whose files are written.
  fileprivate struct Outcome {
    let index: Int
    let host: String?
    let end: BatchState<PendingElement>.End
    let bytes: Int
    let isCached: Bool
    let delivery: BatchElement.Delivery
  }

  /// Entered once while elements are pulled, and once for each element until it is acknowledged.
  let group = DispatchGroup()
  private let pipeline: ThumbnailPipeline
  private let total: Int?
  private let started = ContinuousClock.now
  private let state: Mutex<State>
  private let source: ElementSource
  /// Begins parked elements: pulling may block, and the delivery is busy.
  private let beginning = WorkQueue(label: "thumbs.batch.begin", width: 1)
  private let delivering: DispatchQueue

  /// - Parameters:
  ///   - queue: where the handlers are called. Default of nil: a queue of the batch.
  ///   - progress: called with the progress of the batch. Default of nil: nobody wants it.
  ///   - begin: called with each element that begins.
  ///   - prepare: called with each outcome, on the thread that has it. Returns the handler of the item.
  init<Elements>(
    _ batch: Batch<Elements>, queue: DispatchQueue?, progress: BatchProgress.Handler?,
    begin: @escaping @Sendable (Elements.Element) -> Void,
    prepare: @escaping TypedElement<Elements.Element>.Closures.Preparation
  ) {
    pipeline = batch.pipeline
    total = batch.total
    delivering = DispatchQueue(label: "thumbs.batch.deliver", target: queue)
    let state = BatchState<PendingElement>(
      window: batch.window, lookahead: batch.lookahead, perHost: batch.pipeline.context.requestsPerHost)
    let interval = batch.pipeline.context.downloader.context.progressInterval
    self.state = Mutex(
      State(batch: state, meter: progress.map { _ in BatchMeter(interval: interval) }, progress: progress))
    source = ElementSource(
      batch.elements, TypedElement.Closures(request: batch.request, begin: begin, prepare: prepare))
  }

  func start(completion: @escaping @Sendable (BatchSummary) -> Void) {
    group.enter()
    group.notify(queue: delivering) { [self] in
      report()
      // A `BatchRun` that lives on must not keep what the closure captured.
      _ = state.withLock { $0.progress.take() }
      completion(summary)
      source.release()
    }
    source.async { [self] in pull() }
  }

  func cancel() {
    let (callers, parked) = state.withLock { state -> ([ThumbnailCaller], [PendingElement]) in
      guard let parked = state.batch.cancel() else { return ([], []) }
      return (Array(state.callers.values), parked)
    }
    close()
    pipeline.context.downloader.context.queue.whileFrozen { for caller in callers { caller.cancel() } }
    for pending in parked.sorted(by: { $0.element.index < $1.element.index }) {
      delivering.async { [self] in finish(pending.element, host: pending.host, .failure(.cancelled)) }
    }
  }

  func setPriority(_ priority: Priority) {
    state.withLock { $0.priority = priority }
    passOn({ $0.priority }) { caller, priority in if let priority { caller.setPriority(priority) } }
  }

  func setPaused(_ isPaused: Bool) {
    state.withLock { $0.isPaused = isPaused }
    passOn({ $0.isPaused }) { caller, isPaused in caller.slot.setPaused(isPaused) }
  }

  /// Passes a value of the state on to the callers in flight. Thread A may pass on an older value after thread B has
  /// passed on a newer one. Then A looks again, finds the newer one and passes that on.
  private func passOn<Value: Equatable & Sendable>(
    _ value: (State) -> Value, to change: (Caller<ThumbnailSet>, Value) -> Void
  ) {
    var known: Value?
    while true {
      let (latest, callers) = state.withLock { (value($0), Array($0.callers.values)) }
      if latest == known { return }
      for caller in callers { change(caller.caller, latest) }
      known = latest
    }
  }

  private var summary: BatchSummary {
    state.withLock { state in
      BatchSummary(
        finished: state.batch.finished, failed: state.batch.failed, cancelled: state.batch.cancelled,
        isCancelled: state.batch.isCancelled, receivedBytes: state.batch.receivedBytes)
    }
  }

  /// Pulls elements while the window has room. A loop suffices, without recursion: outcomes arrive on another queue.
  private func pull() {
    while let index = state.withLock({ $0.batch.reserve() }) {
      guard let element = source.pull(index) else { return close() }
      guard admit() else { return }
      take(element)
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
      if state.batch.isOpen { group.enter() }
      return state.batch.isOpen
    }
  }

  /// Makes the request of an element, and begins the element or parks it.
  private func take(_ element: any BatchElement) {
    let epoch = pipeline.context.room.epoch
    do throws(FetchFailure) {
      var request = try element.request()
      request.since = request.since ?? started
      let parsed = request.parsed()
      let pending = PendingElement(element, request, host: parsed.hostInBatch, epoch: epoch)
      let begins = state.withLock { $0.batch.begin(pending, host: pending.host, priority: pending.request.priority) }
      if begins { begin(pending, parsed) }
    } catch {
      delivering.async { [self] in finish(element, host: nil, .failure(error)) }
    }
  }

  private func begin(_ pending: PendingElement, _ request: ThumbnailRequest) {
    let (element, host) = (pending.element, pending.host)
    element.begin()
    let caller = pipeline.makeCaller(request, on: .sameThread, progress: progress(of: element.index)) {
      [self] in finish(element, host: host, $0)
    }
    // The caller is in `callers` before it starts, so that no cancellation and no change misses it. A pause is set
    // under the lock: if thread B resumed after this thread A had read the pause, A would pause the caller for good.
    let isCancelled = state.withLock { state in
      state.callers[element.index] = caller
      if let priority = state.priority { caller.caller.setPriority(priority) }
      if state.isPaused { caller.caller.slot.setPaused(true) }
      return state.batch.isCancelled
    }
    // If the epochs differ, `cancelAll()` of the pipeline was called while the element was parked.
    if isCancelled || caller.epoch != pending.epoch { caller.cancel() }
    caller.start(after: request.after)
  }

  /// Prepares an outcome on this thread, and delivers it in its turn, at the end of its ``OutcomeGroup`` if it has one.
  private func finish(
    _ element: any BatchElement, host: String?, _ outcome: Result<ThumbnailSet, FetchFailure>
  ) {
    let prepared = Outcome(
      index: element.index, host: host, end: BatchState<PendingElement>.End(outcome), bytes: outcome.downloadedBytes,
      isCached: outcome.isCached, delivery: element.prepare(outcome))
    state.withLock { $0.outcomes.append(prepared) }
    if let group = OutcomeGroup.current { group.add(self) } else { scheduleDelivery() }
  }

  /// Makes sure that the outcomes that wait are delivered.
  fileprivate func scheduleDelivery() {
    let isScheduled = state.withLock { state in
      defer { state.isDelivering = true }
      return state.isDelivering
    }
    if !isScheduled { delivering.async { [self] in deliver() } }
  }

  /// Delivers the outcomes that wait, one at a time, until no more wait.
  private func deliver() {
    while true {
      let (outcomes, next) = state.withLock { state in
        defer { (state.outcomes, state.next) = ([], []) }
        // Under the lock: thread A, which acknowledges late, leaves an element in `next` to this thread B only while B
        // is still going to look.
        state.isDelivering = !state.outcomes.isEmpty || !state.next.isEmpty
        return (state.outcomes, state.next)
      }
      if outcomes.isEmpty && next.isEmpty { return }
      begin(next)
      for outcome in outcomes { deliver(outcome) }
    }
  }

  private func deliver(_ outcome: Outcome) {
    let (finished, isReportDue) = state.withLock { state in
      state.callers[outcome.index] = nil
      state.meter?.end(outcome.index)
      return (state.batch.deliver(outcome.end, bytes: outcome.bytes), schedulesReport(&state))
    }
    if isReportDue { delivering.async { [self] in report() } }
    outcome.delivery(finished, total) { [self] in
      free(outcome.host, isCached: outcome.isCached)
      group.leave()
    }
  }

  /// Frees the place of an element, and begins what follows: at once, or after the delivery that is in progress.
  private func free(_ host: String?, isCached: Bool) {
    let freed = state.withLock { state in
      let freed = state.batch.release(host: host, isCached: isCached)
      guard state.isDelivering else { return freed }
      state.next += freed.next
      return .init(next: [], resumesPulling: freed.resumesPulling)
    }
    begin(freed.next)
    if freed.resumesPulling { source.async { [self] in pull() } }
  }

  private func begin(_ next: [PendingElement]) {
    if !next.isEmpty { beginning.async { [self] in for pending in next { begin(pending, pending.request.parsed()) } } }
  }

  // MARK: Progress

  /// Returns the closure that receives the progress of an element; nil if nobody wants the progress of the batch.
  private func progress(of index: Int) -> DownloadProgress.Handler? {
    guard state.withLock({ $0.meter != nil }) else { return nil }
    return { [self] progress in
      let isReportDue = state.withLock { state in
        state.meter?.record(progress, of: index)
        return schedulesReport(&state)
      }
      if isReportDue { delivering.async { [self] in report() } }
    }
  }

  /// Returns true if a report must be scheduled. Nothing reads the clock if nobody wants progress.
  private func schedulesReport(_ state: inout State) -> Bool {
    guard state.meter != nil else { return false }
    return state.meter?.schedulesReport(at: pipeline.context.downloader.context.elapsed()) ?? false
  }

  /// Reports the progress of the batch, unless nothing has changed since the last report. Runs on the queue of the
  /// deliveries.
  private func report() {
    let (handler, progress) = state.withLock { ($0.progress, $0.report(total: total)) }
    if let handler, let progress { handler(progress) }
  }
}

extension BatchEngine.State {
  /// Returns the progress of the batch; nil if nobody wants it, or if it is the same as in the last report.
  fileprivate mutating func report(total: Int?) -> BatchProgress? {
    guard let meter else { return nil }
    let progress = BatchProgress(
      finished: batch.finished, failed: batch.failed, cancelled: batch.cancelled, total: total,
      receivedBytes: batch.receivedBytes + meter.receivedBytes,
      expectedBytes: meter.expectedBytes.map { batch.receivedBytes + $0 })
    return self.meter?.reports(progress) == true ? progress : nil
  }
}

extension Result<ThumbnailSet, FetchFailure> {
  /// True if the thumbnails are from the cache, without a request.
  fileprivate var isCached: Bool {
    guard case .success(let set) = self else { return false }
    return [.memory, .disk, .remote].contains(set.origin)
  }

  /// The length of the source if it was downloaded, or read from a file, for this outcome; otherwise 0.
  fileprivate var downloadedBytes: Int {
    guard case .success(let set) = self, [.network, .file].contains(set.origin) else { return 0 }
    return set.sourceBytes
  }
}

/// The outcomes of lookups that were made together. They are delivered together at the end, because waking the thread
/// of the deliveries costs as much as a delivery.
final class OutcomeGroup: Sendable {
  @TaskLocal fileprivate static var current: OutcomeGroup?

  private let batches = Mutex<[ObjectIdentifier: BatchEngine]>([:])

  /// Runs `body`, and then delivers the outcomes that it had.
  static func run(_ body: () -> Void) {
    let group = OutcomeGroup()
    $current.withValue(group, operation: body)
    for batch in group.batches.withLock({ $0 }).values { batch.scheduleDelivery() }
  }

  /// Delivers the outcomes of `batch` at the end.
  fileprivate func add(_ batch: BatchEngine) { batches.withLock { $0[ObjectIdentifier(batch)] = batch } }
}

/// The elements of a batch, pulled one by one on a separate queue. Pulling may block: on standard input, for example.
final class ElementSource: Sendable {
  /// A closure alone would be wrapped in another one at each access through the generic lock.
  private struct Puller {
    /// Returns the element at a position.
    var next: (Int) -> (any BatchElement)?
  }

  /// Used on the queue only; the lock satisfies the compiler.
  private let puller: Mutex<Puller>
  private let queue = DispatchQueue(label: "thumbs.batch.pull")

  init<Elements: Sequence & Sendable>(_ elements: Elements, _ closures: TypedElement<Elements.Element>.Closures) {
    puller = Mutex(Self.puller(of: elements, closures))
  }

  private static func puller<Elements: Sequence>(
    of elements: Elements, _ closures: TypedElement<Elements.Element>.Closures
  ) -> Puller {
    var iterator = elements.makeIterator()
    return Puller { index in iterator.next().map { TypedElement($0, index: index, closures) } }
  }

  /// Runs `work`, which may call ``pull(_:)``.
  func async(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

  /// Returns the next element, which is at the position `index`; nil after the last one.
  func pull(_ index: Int) -> (any BatchElement)? { puller.withLock { $0.next(index) } }

  /// Drops the elements, and the closures of the batch.
  func release() { async { [self] in puller.withLock { $0.next = { _ in nil } } } }
}

/// An element that has not begun.
///
/// An object, so that a parked element takes only its own size: the arrays that hold parked elements grow by doubling.
/// It is released when the element begins: a request in flight must not keep the milestones that it waits for, see
/// ``Milestone``.
final class PendingElement: Sendable {
  let element: any BatchElement
  /// The request, whose URL is parsed again when the element begins: thousands of elements may be parked.
  let request: ThumbnailRequest
  /// The host whose places the element takes; nil if it takes none.
  let host: String?
  /// The epoch of the pipeline when the element was pulled.
  let epoch: Int

  init(_ element: any BatchElement, _ request: ThumbnailRequest, host: String?, epoch: Int) {
    (self.element, self.request, self.host, self.epoch) = (element, request, host, epoch)
  }
}

extension ThumbnailRequest {
  /// The host whose places the request takes. Nil if it takes none: local files and invalid URLs never reach a host,
  /// and a request that waits for another one must not hold a place that the other one may need.
  var hostInBatch: String? {
    guard after.isEmpty, let source, !source.scheme.isLocal else { return nil }
    return source.host
  }
}

/// An element of a known type, with the closures that its batch was given.
final class TypedElement<Element: Sendable>: BatchElement {
  /// The closures of one batch, shared by its elements.
  final class Closures: Sendable {
    /// Receives one item, and acknowledges it when its place in the window is free.
    typealias Handler = @Sendable (BatchItem<Element>, _ acknowledge: @escaping @Sendable () -> Void) -> Void
    /// Does with an outcome what may be done for several elements at a time, and returns the rest.
    typealias Preparation = @Sendable (Element, Result<ThumbnailSet, FetchFailure>) -> Handler

    fileprivate let request: @Sendable (Element) throws(FetchFailure) -> ThumbnailRequest
    fileprivate let begin: @Sendable (Element) -> Void
    fileprivate let prepare: Preparation

    init(
      request: @escaping @Sendable (Element) throws(FetchFailure) -> ThumbnailRequest,
      begin: @escaping @Sendable (Element) -> Void, prepare: @escaping Preparation
    ) {
      self.request = request
      self.begin = begin
      self.prepare = prepare
    }
  }

  let index: Int
  private let element: Element
  private let closures: Closures

  init(_ element: Element, index: Int, _ closures: Closures) {
    self.element = element
    self.index = index
    self.closures = closures
  }

  func request() throws(FetchFailure) -> ThumbnailRequest { try closures.request(element) }

  func begin() { closures.begin(element) }

  func prepare(_ outcome: Result<ThumbnailSet, FetchFailure>) -> Delivery {
    let handler = closures.prepare(element, outcome)
    return { [index, element] finished, total, acknowledge in
      let item = BatchItem(index: index, element: element, outcome: outcome, finished: finished, total: total)
      handler(item, acknowledge)
    }
  }
}

/// One element of a batch, and the caller's code for it. The engine of a batch is independent of the type of the
/// elements: code for any type is slow in another module than its own.
protocol BatchElement: AnyObject, Sendable {
  /// The position of the element in the sequence, from 0.
  var index: Int { get }

  /// Returns the request of the element.
  func request() throws(FetchFailure) -> ThumbnailRequest

  /// Tells the caller that the request begins.
  func begin()

  /// Hands the outcome to the caller's code that may run for several elements at a time. Returns what remains to be
  /// done for one element at a time.
  func prepare(_ outcome: Result<ThumbnailSet, FetchFailure>) -> Delivery
}

extension BatchElement {
  /// Delivers the outcome of one element.
  ///
  /// - Parameters:
  ///   - finished: the number of finished elements, including this one.
  ///   - total: the number of elements in the sequence; nil if it is unknown.
  ///   - acknowledge: called when the place of the element in the window is free.
  typealias Delivery = @Sendable (_ finished: Int, _ total: Int?, _ acknowledge: @escaping @Sendable () -> Void) -> Void
}
