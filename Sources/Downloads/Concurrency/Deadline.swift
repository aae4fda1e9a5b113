internal import Synchronization

/// The deadline of one caller. It passes once at most, and never after the end of the caller was delivered.
///
/// Thread A sets the deadline while thread B delivers the end. So ``cancel()`` may come first; then it holds for a
/// deadline that is set later.
package struct Deadline: ~Copyable, Sendable {
  // Not private: the compiler of Swift 6.3 emits invalid code for a private type inside a noncopyable one.
  enum State: Sendable {
    case unset
    case set(Task<Void, Never>)
    case cancelled
  }

  let state = Mutex(State.unset)

  package init() {}

  /// Runs `body` after `limit`, which is clamped to the range of waiting times.
  ///
  /// - Parameter after: runs a closure after a pause.
  package func set(
    to limit: Duration, after: (Duration, @escaping @Sendable () -> Void) -> Task<Void, Never>,
    _ body: @escaping @Sendable () -> Void
  ) {
    let timer = after(limit.clamped(to: .waiting), body)
    let isLate = state.withLock { state in
      if case .cancelled = state { return true }
      state = .set(timer)
      return false
    }
    if isLate { timer.cancel() }
  }

  /// Lets the deadline never pass, now or when it is set.
  package func cancel() {
    let old = state.withLock { state in
      defer { state = .cancelled }
      return state
    }
    if case .set(let timer) = old { timer.cancel() }
  }
}

extension FetchFailure {
  /// The failure of a request that has no outcome after `limit`.
  package init(pastDeadline limit: Duration, attempts: Int = 0) {
    self.init(.timeoutTotal, "The request took longer than its limit of \(limit).", attempts: attempts)
  }
}
