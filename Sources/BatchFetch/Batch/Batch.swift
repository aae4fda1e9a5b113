internal import Dispatch
public import Foundation
internal import Synchronization

/// Many requests as one. Delivers each outcome with a running count, and then one completion.
///
/// Elements are pulled lazily, so that a sequence of any length takes constant memory. A host gets only a part of the
/// window: further elements of it are parked, so that the hosts of later elements are busy at the same time. At most
/// 16,384 elements are parked by default. Several batches and single requests can share a pipeline: the work they have
/// in common is done once.
///
/// ```swift
/// let requests = urls.map { ThumbnailRequest(url: $0, size: 64) }
/// for await item in Batch(requests, over: pipeline) {
///   print(item.finished, item.total ?? 0, item.outcome)
/// }
/// ```
public struct Batch<Elements: Sequence & Sendable>: Sendable where Elements.Element: Sendable {
  /// An element with its outcome.
  public typealias Element = BatchItem<Elements.Element>
  /// Makes the request of an element. If it throws, only that element fails.
  public typealias Request = @Sendable (Elements.Element) throws(FetchFailure) -> ThumbnailRequest

  /// The default number of parked elements at which pulling stops, over all hosts: 16,384.
  ///
  /// Measured with the command, a parked row takes 1.1 KB (a URL of 83 bytes alone), 1.4 KB (with a name and a
  /// subtitle) or 2.1 KB (with header fields, sizes and a dependency as well), which makes 18 to 35 MB for this number.
  /// It exceeds 10,000, so that a host with that many rows holds up no other host while it is down. A sequence that is
  /// grouped by host keeps all transfers busy if no host has more than about half of this number in a row.
  public static var standardLookahead: Int { 16_384 }

  /// The default maximum number of elements in flight, over all hosts: 4096.
  public static var standardWindow: Int { 4096 }

  let elements: Elements
  let pipeline: ThumbnailPipeline
  let total: Int?
  let window: Int
  let lookahead: Int
  let request: Request

  /// Creates a batch of any elements that requests can be made from. It does nothing until it is started or iterated.
  ///
  /// - Parameters:
  ///   - elements: the elements, pulled one by one. Pulling may block.
  ///   - pipeline: fetches and renders the images.
  ///   - total: the number of elements, for the progress. Default nil: unknown.
  ///   - window: the maximum number of elements in flight, over all hosts, at least 1. Default ``standardWindow``. At
  ///     most four times ``Downloader/Configuration/perHost`` of them are of one host, or as many as keep all render
  ///     threads busy, and eight times that number while the host is served from the cache. While more than 256
  ///     elements are in flight, a host gets a quarter of that, and while there are more than 1,024, one.
  ///   - lookahead: the number of parked elements at which pulling stops, over all hosts, at least 1. Default
  ///     ``standardLookahead``.
  ///   - request: makes the request of an element.
  public init(
    _ elements: Elements, over pipeline: ThumbnailPipeline, total: Int? = nil, window: Int = Self.standardWindow,
    lookahead: Int = Self.standardLookahead, request: @escaping Request
  ) {
    self.elements = elements
    self.pipeline = pipeline
    self.total = total
    self.window = Swift.max(1, window)
    self.lookahead = Swift.max(1, lookahead)
    self.request = request
  }

  /// Starts the batch.
  ///
  /// - Parameters:
  ///   - queue: where the closures are called, one at a time. Default: a queue of the batch.
  ///   - each: called once for each element, in the order of completion. When it returns, the place of the element in
  ///     the window is free.
  ///   - progress: called with the elements and bytes so far, at most once per interval; see
  ///     ``BatchProgress/Handler``. Default: nothing, which costs nothing.
  ///   - completion: called exactly once, after the last call of `each`, even if there were no elements, all of them
  ///     failed, or the batch was canceled. Default: nothing.
  ///   - begin: called when the request of an element begins, on a thread of the batch. It is not called for an element
  ///     whose request cannot be made, or that is canceled while it is parked. Default: nothing.
  /// - Returns: the running batch. It continues if you do not keep this value.
  @discardableResult
  public func start(
    on queue: DispatchQueue? = nil, each: @escaping @Sendable (Element) -> Void,
    progress: BatchProgress.Handler? = nil, completion: @escaping @Sendable (BatchSummary) -> Void = { _ in },
    begin: @escaping @Sendable (Elements.Element) -> Void = { _ in }
  ) -> BatchRun {
    start(
      on: queue, prepare: { _, _ in }, each: { item, _ in each(item) }, progress: progress, completion: completion,
      begin: begin)
  }

  /// Starts the batch, with a step that several threads take at a time.
  ///
  /// - Parameters:
  ///   - queue: where `each`, `progress` and `completion` are called, one at a time. Default: a queue of the batch.
  ///   - prepare: called once for each element with its outcome, on the thread that has the outcome, and on several
  ///     threads at a time. Write thumbnails to files here: a slow disk then holds up a thread that renders, but no
  ///     other outcome.
  ///   - each: called once for each element with the result of `prepare`, in the order of completion. When it returns,
  ///     the place of the element in the window is free.
  ///   - progress: called with the elements and bytes so far, as in the other method. Default: nothing.
  ///   - completion: called exactly once, after the last call of `each`. Default: nothing.
  ///   - begin: called when the request of an element begins, as in the other method. Default: nothing.
  /// - Returns: the running batch. It continues if you do not keep this value.
  @discardableResult
  public func start<Prepared: Sendable>(
    on queue: DispatchQueue? = nil,
    prepare: @escaping @Sendable (Elements.Element, Result<ThumbnailSet, FetchFailure>) -> Prepared,
    each: @escaping @Sendable (Element, Prepared) -> Void, progress: BatchProgress.Handler? = nil,
    completion: @escaping @Sendable (BatchSummary) -> Void = { _ in },
    begin: @escaping @Sendable (Elements.Element) -> Void = { _ in }
  ) -> BatchRun {
    start(
      on: queue, prepare: prepare,
      eventually: { item, prepared, acknowledge in
        each(item, prepared)
        acknowledge()
      }, progress: progress, completion: completion, begin: begin)
  }

  /// Starts the batch with a last step that may end later, as that of an upload.
  ///
  /// - Parameter each: Called once for each element. The place of the element in the window is free when it has called
  ///   `acknowledge`, which it must do exactly once, on any thread.
  @discardableResult
  package func start<Prepared: Sendable>(
    on queue: DispatchQueue? = nil,
    prepare: @escaping @Sendable (Elements.Element, Result<ThumbnailSet, FetchFailure>) -> Prepared,
    eventually each: @escaping @Sendable (Element, Prepared, _ acknowledge: @escaping @Sendable () -> Void) -> Void,
    progress: BatchProgress.Handler? = nil, completion: @escaping @Sendable (BatchSummary) -> Void = { _ in },
    begin: @escaping @Sendable (Elements.Element) -> Void = { _ in }
  ) -> BatchRun {
    let engine = BatchEngine(self, queue: queue, progress: progress, begin: begin) { element, outcome in
      let prepared = prepare(element, outcome)
      return { item, acknowledge in each(item, prepared, acknowledge) }
    }
    engine.start(completion: completion)
    return BatchRun(engine)
  }
}

extension Batch where Elements.Element == ThumbnailRequest {
  /// Creates a batch of requests. It keeps them until it has ended, and with them their milestones: a request of a
  /// batch waits for a milestone even if nobody else holds that milestone anymore.
  public init(_ requests: Elements, over pipeline: ThumbnailPipeline, window: Int = Self.standardWindow)
  where Elements: Collection {
    self.init(requests, over: pipeline, total: requests.count, window: window) { $0 }
  }
}

// MARK: Async sequence

extension Batch: AsyncSequence {
  /// The sequence never throws: failures are outcomes.
  public typealias Failure = Never

  /// Starts the batch, which runs as fast as its items are taken. Releasing the iterator or canceling the task cancels
  /// the batch.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

  /// Calls `body` with each outcome, in the order of completion, and returns the counts of the batch. It runs as fast
  /// as `body` returns. If `body` throws, or the task is canceled, the batch is canceled; the outcomes of elements that
  /// have begun still arrive after a cancellation.
  ///
  /// ```swift
  /// let summary = await batch.forEach { item in print(item.finished, item.outcome) }
  /// print(summary.succeeded, summary.failed)
  /// ```
  ///
  /// - Parameters:
  ///   - body: called with one outcome at a time, on the actor of the caller. Its place in the window is free as soon
  ///     as it is taken.
  ///   - progress: called with the elements and bytes so far on a queue of the batch, which does not wait for `body`;
  ///     see ``BatchProgress/Handler``. Default: nothing.
  public nonisolated(nonsending) func forEach(
    _ body: nonisolated(nonsending) (Element) async throws -> Void, progress: BatchProgress.Handler? = nil
  ) async rethrows -> BatchSummary {
    let channel = BatchChannel(self, progress: progress)
    while let item = await channel.next() { try await body(item) }
    // The last item comes after the end of the batch, which has the counts.
    return channel.summary ?? BatchSummary(finished: 0, failed: 0, cancelled: 0, isCancelled: true)
  }

  /// Iterates over the outcomes, in the order of completion.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let channel: BatchChannel<Elements.Element>

    init(_ batch: Batch) { channel = BatchChannel(batch) }

    /// Returns the next outcome; nil after the last one.
    public mutating func next() async -> BatchItem<Elements.Element>? { await channel.next() }

    /// Returns the next outcome; nil after the last one.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> BatchItem<Elements.Element>? {
      await channel.next()
    }
  }
}

// MARK: Main actor

extension Batch {
  /// Starts the batch for code of the main actor, such as a view.
  ///
  /// ```swift
  /// batch.start(isolation: MainActor.shared) { item in
  ///   self.finished = item.finished
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - actor: the main actor, on which `each`, `progress` and `completion` are called, one at a time.
  ///   - each: called once for each element, in the order of completion. When it returns, the place of the element in
  ///     the window is free.
  ///   - progress: called with the elements and bytes so far; see ``BatchProgress/Handler``. Default: nothing.
  ///   - completion: called exactly once, after the last call of `each`. Default: nothing.
  ///   - begin: called when the request of an element begins, on a thread of the batch, as in
  ///     ``start(on:each:progress:completion:begin:)``. Default: nothing.
  /// - Returns: the running batch. It continues if you do not keep this value.
  @discardableResult
  public func start(
    isolation actor: MainActor, each: @escaping @MainActor (Element) -> Void,
    progress: (@MainActor (BatchProgress) -> Void)? = nil,
    completion: @escaping @MainActor (BatchSummary) -> Void = { _ in },
    begin: @escaping @Sendable (Elements.Element) -> Void = { _ in }
  ) -> BatchRun {
    start(
      on: .main, each: MainHandler.calling(each), progress: MainHandler.calling(ifAny: progress),
      completion: MainHandler.calling(completion), begin: begin)
  }
}

/// A running batch.
///
/// ```swift
/// let run = Batch(requests, over: pipeline).start { item in print(item.outcome) }
/// run.setPriority(.low)
/// run.cancel()
/// ```
public struct BatchRun: Sendable {
  private let engine: BatchEngine

  init(_ engine: BatchEngine) { self.engine = engine }

  /// A group that is empty once every outcome has been delivered; the completion follows.
  public var group: CompletionGroup { CompletionGroup(engine.group) }

  /// Stops pulling elements, and cancels those in flight, except for work that other callers need. Every element that
  /// has begun still gets its outcome, and then the completion is called.
  public func cancel() { engine.cancel() }

  /// Changes the priority of all requests of the batch, those that have not begun included. It takes the place of
  /// ``ThumbnailRequest/priority``.
  public func setPriority(_ priority: Priority) { engine.setPriority(priority) }

  /// Pauses the downloads of the batch, those that have not begun included, as ``ThumbnailToken/pause()`` does for one
  /// request: what is in the cache is served nevertheless. Elements are pulled until the window is full.
  public func pause() { engine.setPaused(true) }

  /// Resumes the downloads of the batch.
  public func resume() { engine.setPaused(false) }
}

/// Passes the items of a running batch to one reader. It holds one window of items at most, because an item is
/// acknowledged when the reader takes it. After a cancellation, it also holds the items that were parked.
private final class BatchChannel<Element: Sendable>: Sendable {
  private typealias Item = BatchItem<Element>
  private typealias Pending = (item: Item, acknowledge: @Sendable () -> Void)

  /// Shared with the batch. The batch must not keep the channel itself alive, because releasing the channel cancels the
  /// batch.
  private final class Buffer: Sendable {
    struct State {
      var items = FIFO<Pending>()
      var reader: CheckedContinuation<Pending?, Never>?
      /// Nil before the end.
      var summary: BatchSummary?
      var isAbandoned = false
    }

    let state = Mutex(State())

    func put(_ pending: Pending) {
      let (reader, isAbandoned) = state.withLock { state in
        if state.isAbandoned { return (nil as CheckedContinuation<Pending?, Never>?, true) }
        if state.reader == nil { state.items.append(pending) }
        return (state.reader.take(), false)
      }
      reader?.resume(returning: pending)
      if isAbandoned { pending.acknowledge() }
    }

    func end(_ summary: BatchSummary) {
      let reader = state.withLock { state in
        state.summary = summary
        return state.reader.take()
      }
      reader?.resume(returning: nil)
    }

    func take() async -> Pending? {
      await withCheckedContinuation { continuation in
        let (pending, isReady) = state.withLock { state -> (Pending?, Bool) in
          if let item = state.items.popFirst() { return (item, true) }
          if state.summary != nil { return (nil, true) }
          state.reader = continuation
          return (nil, false)
        }
        if isReady { continuation.resume(returning: pending) }
      }
    }

    func abandon() {
      var pending = state.withLock { state in
        state.isAbandoned = true
        defer { state.items = FIFO() }
        return state.items
      }
      while let item = pending.popFirst() { item.acknowledge() }
    }
  }

  private let buffer: Buffer
  private let onCancel: @Sendable () -> Void

  init<Elements>(_ batch: Batch<Elements>, progress: BatchProgress.Handler? = nil) where Elements.Element == Element {
    let buffer = Buffer()
    let engine = BatchEngine(batch, queue: nil, progress: progress, begin: { _ in }) { _, _ in
      { buffer.put(($0, $1)) }
    }
    self.buffer = buffer
    onCancel = { engine.cancel() }
    engine.start { buffer.end($0) }
  }

  deinit {
    onCancel()
    buffer.abandon()
  }

  /// The counts of the batch; nil before its end.
  var summary: BatchSummary? { buffer.state.withLock { $0.summary } }

  /// Returns the next item; nil after the last one. Canceling the task cancels the batch; its remaining items still
  /// arrive.
  func next() async -> BatchItem<Element>? {
    let pending = await withTaskCancellationHandler {
      await buffer.take()
    } onCancel: {
      onCancel()
    }
    pending?.acknowledge()
    return pending?.item
  }
}
