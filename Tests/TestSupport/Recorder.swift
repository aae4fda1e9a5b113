import Synchronization

/// A thread-safe list of values from callbacks, which lets a test wait for a number of values.
public final class Recorder<Value: Sendable>: Sendable {
  private struct State {
    var values: [Value] = []
    var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())

  public init() {}

  public var values: [Value] { state.withLock { $0.values } }

  public func record(_ value: Value) {
    let ready = state.withLock { state in
      state.values.append(value)
      let ready = state.waiters.filter { $0.count <= state.values.count }
      state.waiters.removeAll { $0.count <= state.values.count }
      return ready
    }
    for waiter in ready { waiter.continuation.resume() }
  }

  /// Waits for at least `count` values and returns all of them.
  public func values(count: Int) async -> [Value] {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.values.count >= count { return true }
        state.waiters.append((count, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
    return values
  }
}
