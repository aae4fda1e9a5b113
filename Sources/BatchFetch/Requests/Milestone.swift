internal import Synchronization

/// Something that happens once, and that requests can wait for: the end of another request, say. Let go, it counts as
/// reached: nobody could reach it any more, and every request is told its outcome.
public final class Milestone: Sendable {
  private struct State {
    var isReached = false
    var waiting: [@Sendable () -> Void] = []
  }

  private let state = Mutex(State())

  /// One that is still ahead.
  public init() {}

  deinit { reach() }

  /// It has happened. Further calls do nothing.
  public func reach() {
    let waiting = state.withLock { state in
      state.isReached = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for body in waiting { body() }
  }

  /// Calls `body` once: now where it has happened, else from the call of ``reach()``.
  func whenReached(_ body: @escaping @Sendable () -> Void) {
    let isReached = state.withLock { state in
      if !state.isReached { state.waiting.append(body) }
      return state.isReached
    }
    if isReached { body() }
  }
}
