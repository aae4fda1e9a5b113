import Dispatch
import Synchronization

/// Blocks threads until a ``MemoryBudget`` grants them memory.
///
/// The number of threads bounds the sum of small requests, so these never wait: small images do not wait for large
/// ones, which may take seconds.
final class MemoryGate: Sendable {
  private struct State {
    var budget: MemoryBudget
    var sleepers: [MemoryBudget.Ticket: DispatchSemaphore] = [:]
  }

  private let state: Mutex<State>
  /// The most bytes that a small request has.
  private let small: Int

  init(limit: Int) {
    state = Mutex(State(budget: MemoryBudget(limit: limit)))
    small = min(limit / 8, 8 << 20)
  }

  /// Blocks until `cost` bytes are granted to this thread.
  func enter(_ cost: Int) {
    guard cost > small else { return }
    let sleeper = state.withLock { state -> DispatchSemaphore? in
      guard let ticket = state.budget.request(cost) else { return nil }
      let sleeper = DispatchSemaphore(value: 0)
      state.sleepers[ticket] = sleeper
      return sleeper
    }
    sleeper?.wait()
  }

  /// Gives back `cost` bytes and wakes the threads that are granted theirs.
  func leave(_ cost: Int) {
    guard cost > small else { return }
    let woken = state.withLock { state in
      state.budget.release(cost).compactMap { state.sleepers.removeValue(forKey: $0) }
    }
    for sleeper in woken { sleeper.signal() }
  }
}
