import Dispatch
import Synchronization

/// Bounds the length of the lines whose rows have no result yet. Rows are bounded in number too, but a line may have a
/// megabyte.
final class InputBudget: Sendable {
  /// The default limit in bytes.
  static let standardLimit = 16 << 20

  private struct State {
    var bytes = 0
    /// The thread that waits for room.
    var sleeper: DispatchSemaphore?
  }

  private let limit: Int
  private let state = Mutex(State())

  /// Creates a budget that has room while fewer than `limit` bytes are in hand.
  init(limit: Int = standardLimit) { self.limit = limit }

  /// True while a thread waits.
  var isWaiting: Bool { state.withLock { $0.sleeper != nil } }

  /// Blocks until there is room. Only one thread may wait.
  func waitForRoom() {
    let sleeper: DispatchSemaphore? = state.withLock { state in
      guard state.bytes >= limit else { return nil }
      state.sleeper = DispatchSemaphore(value: 0)
      return state.sleeper
    }
    sleeper?.wait()
  }

  /// Adds a line of `count` bytes, which may exceed the limit.
  func take(_ count: Int) { state.withLock { $0.bytes += count } }

  /// Gives `count` bytes back.
  func give(_ count: Int) {
    let sleeper: DispatchSemaphore? = state.withLock { state in
      state.bytes -= count
      return state.bytes < limit ? state.sleeper.take() : nil
    }
    sleeper?.signal()
  }
}
