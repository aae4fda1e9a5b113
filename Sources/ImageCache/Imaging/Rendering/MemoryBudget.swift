import Dispatch
import Synchronization

/// Grants memory within a limit, first come, first served. A plain value without synchronization.
struct MemoryBudget {
  /// A request that waits for its grant. Numbers rise in the order of the requests.
  struct Ticket: Hashable {
    fileprivate let number: Int
  }

  private let limit: Int
  private var held = 0
  private var ticketCount = 0
  private var waiting: [(ticket: Ticket, cost: Int)] = []

  init(limit: Int) { self.limit = max(1, limit) }

  /// Requests `cost` bytes. A cost above the limit counts as the whole limit, so that every image is rendered
  /// eventually.
  ///
  /// - Returns: nil if the bytes are granted at once, otherwise the ticket that a later ``release(_:)`` returns.
  mutating func request(_ cost: Int) -> Ticket? {
    let cost = min(cost, limit)
    if waiting.isEmpty && held + cost <= limit {
      held += cost
      return nil
    }
    ticketCount += 1
    let ticket = Ticket(number: ticketCount)
    waiting.append((ticket, cost))
    return ticket
  }

  /// Gives back `cost` bytes, which must be the number that was requested.
  ///
  /// - Returns: The tickets that are granted now and hold their bytes.
  mutating func release(_ cost: Int) -> [Ticket] {
    held -= min(cost, limit)
    var granted: [Ticket] = []
    while let next = waiting.first, held + next.cost <= limit {
      held += next.cost
      granted.append(next.ticket)
      waiting.removeFirst()
    }
    return granted
  }
}

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
