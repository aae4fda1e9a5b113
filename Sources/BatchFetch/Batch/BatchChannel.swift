internal import Synchronization

/// Passes the items of a running batch to one reader. It holds one window of items at most, because an item is
/// acknowledged when the reader takes it. After a cancellation, it also holds the items that were parked.
final class BatchChannel<Element: Sendable>: Sendable {
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
