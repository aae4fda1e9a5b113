internal import Synchronization

/// The closures of one caller, and the deliveries to them: progress in order, then exactly one end.
///
/// The methods that add a delivery return true if ``deliver()`` must be called, on the queue of the caller. The
/// closures are dropped after the end: a token that lives on does not keep what they captured.
package struct Inbox<Value: Sendable>: ~Copyable, Sendable {
  package typealias Completion = @Sendable (Result<Value, FetchFailure>) -> Void

  // Not private: the compiler of Swift 6.3 emits invalid code for a private type inside a noncopyable one.
  struct State {
    var mailbox = CallerMailbox<Value>()
    /// Nil after the end.
    var closures: Closures?
    /// Created on first use.
    var finished: Milestone?
    var isOver = false
  }

  /// In a structure: a closure by itself, passed through generic code, is wrapped in new closures.
  struct Closures {
    let progress: DownloadProgress.Handler?
    let completion: Completion
  }

  /// True if the caller has a closure for progress.
  package let wantsProgress: Bool
  let state: Mutex<State>

  package init(progress: DownloadProgress.Handler?, completion: @escaping Completion) {
    wantsProgress = progress != nil
    state = Mutex(State(closures: Closures(progress: progress, completion: completion)))
  }

  /// Returns the milestone that is reached after the completion has returned.
  ///
  /// - Parameter caller: The owner of this inbox, which gets the priority of those that wait for the milestone.
  package func finished(of caller: (any PrioritizedCaller)?) -> Milestone {
    let (milestone, isOver) = state.withLock { state in
      let milestone = state.finished ?? Milestone(of: caller)
      state.finished = milestone
      return (milestone, state.isOver)
    }
    if isOver { milestone.reach() }
    return milestone
  }

  /// Adds progress.
  package func offer(_ progress: DownloadProgress) -> Bool {
    wantsProgress && state.withLock { $0.mailbox.offer(progress) }
  }

  /// Sets the outcome. Only the first one counts.
  package func end(_ result: Result<Value, FetchFailure>, complete: DownloadProgress? = nil) -> Bool {
    state.withLock { $0.mailbox.end(result, complete: complete) }
  }

  /// Replaces an end not delivered yet with `cancelled`.
  package func cancel() -> Bool { state.withLock { $0.mailbox.cancel() } }

  /// Calls the closures. Returns true if the end was among the deliveries.
  ///
  /// - Parameter willComplete: Called with the outcome, right before the completion.
  package func deliver(willComplete: (Result<Value, FetchFailure>) -> Void = { _ in }) -> Bool {
    var isEnd = false
    while let delivery = state.withLock({ $0.mailbox.next() }) {
      switch delivery {
      case .progress(let progress): state.withLock { $0.closures }?.progress?(progress)
      case .end(let result):
        willComplete(result)
        complete(with: result)
        isEnd = true
      }
    }
    return isEnd
  }

  private func complete(with result: Result<Value, FetchFailure>) {
    // Dropped here, outside the lock: what the closures captured may run code when they are released.
    let closures = state.withLock { $0.closures.take() }
    closures?.completion(result)
    state.withLock { state in
      state.isOver = true
      return state.finished
    }?.reach()
  }
}

/// The deliveries that one caller has not received yet. A plain value.
///
/// New progress replaces progress not delivered yet. The end is delivered once, as the last delivery, and a
/// cancellation replaces an end not delivered yet.
struct CallerMailbox<Value: Sendable> {
  /// One delivery.
  enum Delivery {
    case progress(DownloadProgress)
    case end(Result<Value, FetchFailure>)
  }

  private var delivered: DownloadProgress?
  private var pending: DownloadProgress?
  private var end: Result<Value, FetchFailure>?
  private var isEndDelivered = false
  private var isDelivering = false

  /// Adds progress, unless later progress is known. Returns true if the caller of this method must begin to deliver.
  mutating func offer(_ progress: DownloadProgress) -> Bool {
    guard end == nil, !isEndDelivered, progress.isLater(than: pending ?? delivered) else { return false }
    pending = progress
    return beginDelivery()
  }

  /// Sets the outcome; only the first one counts. Returns true if the caller of this method must begin to deliver.
  ///
  /// - Parameter complete: The progress at the end, delivered before it.
  mutating func end(_ result: Result<Value, FetchFailure>, complete: DownloadProgress? = nil) -> Bool {
    guard end == nil, !isEndDelivered else { return false }
    end = result
    if let complete, complete != delivered { pending = complete }
    return beginDelivery()
  }

  /// Makes `cancelled` the end, unless an end has been delivered. Returns true if the caller of this method must begin
  /// to deliver.
  mutating func cancel() -> Bool {
    guard !isEndDelivered else { return false }
    end = .failure(.cancelled)
    pending = nil
    return beginDelivery()
  }

  /// Removes and returns the next delivery. When nothing is left, it ends the delivering and returns nil.
  mutating func next() -> Delivery? {
    if let progress = pending.take() {
      delivered = progress
      return .progress(progress)
    }
    if let end = end.take() {
      isEndDelivered = true
      return .end(end)
    }
    isDelivering = false
    return nil
  }

  /// Returns true to one thread at a time, so that deliveries to one caller keep their order.
  private mutating func beginDelivery() -> Bool {
    defer { isDelivering = true }
    return !isDelivering
  }
}
