import Dispatch
import Synchronization

/// A lookup that rows wait for, such as the request of a page.
protocol Lookup: Sendable {
  associatedtype Value
  func start()
  func cancel()
  /// Waits for the result.
  func value() -> Value
}

/// A queue of elements with lookups, of which many run ahead at a time. Pages are requested so, by the downloader of
/// the run: its limits and delays per host, robots.txt and the rule for IP addresses hold for them, too.
final class LookupQueue<Element: Sendable, Ahead: Lookup>: Sendable {
  private struct State {
    /// The elements that have not been returned, in order.
    var waiting: [(element: Element, lookup: Ahead)] = []
    var isCancelled = false
  }

  private let state = Mutex(State())
  /// Counts the free places of the window.
  private let room = DispatchSemaphore(value: 0)
  /// Counts the elements that can be taken, and the end.
  private let arrivals = DispatchSemaphore(value: 0)
  /// Reads the source, which may block. Another thread waits for the lookups at the same time.
  private let reading = DispatchQueue(label: "thumbs.lookups.ahead")

  /// Creates a queue of which at most `window` lookups run ahead.
  init(window: Int = 64) {
    // A semaphore must not end with less than it began with.
    for _ in 0..<window { room.signal() }
  }

  /// Starts the lookups of the elements that `source` returns until it returns nil.
  func begin(_ source: @escaping @Sendable () -> (Element, Ahead)?) { reading.async { [self] in read(source) } }

  private func read(_ source: () -> (Element, Ahead)?) {
    while true {
      room.wait()
      guard !state.withLock({ $0.isCancelled }), let (element, lookup) = source() else { break }
      state.withLock { $0.waiting.append((element, lookup)) }
      lookup.start()
      // A cancellation between the two lines above missed this lookup.
      if state.withLock({ $0.isCancelled }) { lookup.cancel() }
      arrivals.signal()
    }
    arrivals.signal()
  }

  /// Ends the lookups.
  func cancel() {
    let waiting = state.withLock { state in
      state.isCancelled = true
      return state.waiting
    }
    for (_, lookup) in waiting { lookup.cancel() }
    // The thread that reads may wait for room.
    room.signal()
  }

  /// Returns the next element with its result; nil after the last. Blocks until its lookup has ended.
  func next() -> (element: Element, value: Ahead.Value)? {
    arrivals.wait()
    guard let (element, lookup) = state.withLock({ $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }) else {
      // Every further call ends here, too.
      arrivals.signal()
      return nil
    }
    defer { room.signal() }
    return (element, lookup.value())
  }
}
