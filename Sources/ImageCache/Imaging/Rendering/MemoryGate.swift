import Dispatch
import Synchronization

/// Makes threads wait until a ``MemoryBudget`` has room for them.
final class MemoryGate: Sendable {
  private struct State {
    var budget: MemoryBudget
    var sleepers: [MemoryBudget.Ticket: DispatchSemaphore] = [:]
  }

  private let state: Mutex<State>

  init(limit: Int) { state = Mutex(State(budget: MemoryBudget(limit: limit))) }

  /// Returns once `cost` bytes are this thread's.
  func enter(_ cost: Int) {
    let sleeper = state.withLock { state -> DispatchSemaphore? in
      guard let ticket = state.budget.request(cost) else { return nil }
      let sleeper = DispatchSemaphore(value: 0)
      state.sleepers[ticket] = sleeper
      return sleeper
    }
    sleeper?.wait()
  }

  /// Gives them back.
  func leave(_ cost: Int) {
    let woken = state.withLock { state in
      state.budget.release(cost).compactMap { state.sleepers.removeValue(forKey: $0) }
    }
    for sleeper in woken { sleeper.signal() }
  }
}
