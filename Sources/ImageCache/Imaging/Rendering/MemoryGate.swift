import Dispatch
import Synchronization

/// Blocks threads until a ``MemoryBudget`` grants them memory.
final class MemoryGate: Sendable {
  private struct State {
    var budget: MemoryBudget
    var sleepers: [MemoryBudget.Ticket: DispatchSemaphore] = [:]
  }

  private let state: Mutex<State>

  init(limit: Int) { state = Mutex(State(budget: MemoryBudget(limit: limit))) }

  /// Blocks until `cost` bytes are granted to this thread.
  func enter(_ cost: Int) {
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
    let woken = state.withLock { state in
      state.budget.release(cost).compactMap { state.sleepers.removeValue(forKey: $0) }
    }
    for sleeper in woken { sleeper.signal() }
  }
}
