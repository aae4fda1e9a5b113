internal import Synchronization

/// An event that happens once and that requests can wait for, such as the end of another request.
///
/// A milestone without any reference left counts as reached: nothing could reach it anymore, and every waiting request
/// must get an outcome.
public final class Milestone: Sendable {
  private struct State {
    var isReached = false
    var waiting: [@Sendable () -> Void] = []
  }

  private let state = Mutex(State())

  /// Creates a milestone that is not reached yet.
  public init() {}

  deinit { reach() }

  /// Marks the milestone as reached. Further calls have no effect.
  public func reach() {
    let waiting = state.withLock { state in
      state.isReached = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for body in waiting { body() }
  }

  /// Calls `body` exactly once: now if the milestone is reached, otherwise within the call of ``reach()``.
  func whenReached(_ body: @escaping @Sendable () -> Void) {
    let isReached = state.withLock { state in
      if !state.isReached { state.waiting.append(body) }
      return state.isReached
    }
    if isReached { body() }
  }
}
