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
    pipeline.context.downloader.context.queue.whileHeld { for caller in callers { caller.cancel() } }
    for pending in parked.sorted(by: { $0.element.index < $1.element.index }) {
      delivering.async { [self] in finish(pending.element, host: pending.host, .failure(.cancelled)) }
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
      if state.batch.mayBegin { group.enter() }
      return state.batch.mayBegin
    }
  }

  /// Makes the request of an element, and begins the element or parks it.
  private func take(_ element: any BatchElement) {
    let epoch = pipeline.context.epoch.load(ordering: .acquiring)
    do throws(FetchFailure) {
      var request = try element.request()
      request.since = request.since ?? started
      let pending = PendingElement(element, request, epoch: epoch)
      let begins = state.withLock { $0.batch.begin(pending, host: pending.host, priority: pending.request.priority) }
      if begins { begin(pending) }
    } catch {
      delivering.async { [self] in finish(element, host: nil, .failure(error)) }
    }
  }

  private func begin(_ pending: PendingElement) {
    let (element, host) = (pending.element, pending.host)
    element.begin()
    let caller = pipeline.makeCaller(pending.request, on: .sameThread, progress: progress(of: element.index)) {
      [self] in finish(element, host: host, $0)
    }
    // The caller is in `callers` before it starts, so that no cancellation misses it.
    let isCancelled = state.withLock { state in
      state.callers[element.index] = caller
      return state.batch.isCancelled
    }
    // If the epochs differ, `cancelAll()` of the pipeline was called while the element was parked.
    if isCancelled || caller.epoch != pending.epoch { caller.cancel() }
    caller.start(after: pending.request.after)
  }

  /// Prepares an outcome on this thread, and delivers it in its turn.
  private func finish(
    _ element: any BatchElement, host: String?, _ outcome: Result<ThumbnailSet, FetchFailure>
  ) {
    let delivery = element.prepare(outcome)
    let (index, end, isCached) = (element.index, BatchState<PendingElement>.End(outcome), outcome.isCached)
    let bytes = outcome.downloadedBytes
    delivering.async { [self] in
      let (finished, isReportDue) = state.withLock { state in
        state.callers[index] = nil
        state.meter?.end(index)
        return (state.batch.deliver(end, bytes: bytes), schedulesReport(&state))
      }
      if isReportDue { delivering.async { [self] in report() } }
      delivery(finished, total) { [self] in
        free(host, isCached: isCached)
        group.leave()
      }
    }
  }

  /// Frees the place of an element, and begins what follows.
  private func free(_ host: String?, isCached: Bool) {
    let freed = state.withLock { $0.batch.release(host: host, isCached: isCached) }
    if !freed.next.isEmpty { beginning.async { [self] in for pending in freed.next { begin(pending) } } }
    if freed.resumesPulling { source.async { [self] in pull() } }
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
