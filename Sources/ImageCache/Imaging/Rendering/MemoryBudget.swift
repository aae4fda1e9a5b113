/// Who may hold how much memory: first come, first served, within a limit. A plain value without threads.
struct MemoryBudget {
  /// Someone who asked; the numbers rise in the order of asking.
  struct Ticket: Hashable {
    fileprivate let number: Int
  }

  private let limit: Int
  private var held = 0
  private var asked = 0
  private var waiting: [(ticket: Ticket, cost: Int)] = []

  init(limit: Int) { self.limit = max(1, limit) }

  /// Asks for `cost` bytes. More than the limit counts as all of it, so that every picture gets its turn.
  ///
  /// - Returns: nil when they are granted at once, else the ticket that ``release(_:)`` calls later.
  mutating func request(_ cost: Int) -> Ticket? {
    let cost = min(cost, limit)
    if waiting.isEmpty && held + cost <= limit {
      held += cost
      return nil
    }
    asked += 1
    let ticket = Ticket(number: asked)
    waiting.append((ticket, cost))
    return ticket
  }

  /// Gives `cost` bytes back, the same number as was asked for.
  ///
  /// - Returns: the tickets whose turn has come, and which hold their bytes from now on.
  mutating func release(_ cost: Int) -> [Ticket] {
    held -= min(cost, limit)
    var called: [Ticket] = []
    while let next = waiting.first, held + next.cost <= limit {
      held += next.cost
      called.append(next.ticket)
      waiting.removeFirst()
    }
    return called
  }
}
