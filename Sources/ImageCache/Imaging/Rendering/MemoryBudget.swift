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
