/// Values that wait in a ``PriorityLine``, each with a ticket by which it can be moved and removed. A plain value.
struct WaitingLine<Value> {
  /// Identifies one value, also after it has left the line.
  struct Ticket: Hashable, Sendable {
    fileprivate var number: UInt64 = 0
  }

  private var line = PriorityLine<Ticket>()
  private var values: [Ticket: Value] = [:]
  private var lastTicket = Ticket()

  /// The number of values.
  var count: Int { line.count }

  /// Adds a value behind those of the same priority.
  mutating func append(_ value: Value, _ priority: Priority) -> Ticket {
    lastTicket.number += 1
    values[lastTicket] = value
    line.append(lastTicket, priority)
    return lastTicket
  }

  /// Moves a value behind those that wait with its new priority. Does nothing if it has left the line.
  mutating func change(_ ticket: Ticket, to priority: Priority) { line.change(ticket, to: priority) }

  /// Removes and returns a value; nil if it has left the line.
  mutating func remove(_ ticket: Ticket) -> Value? {
    line.remove(ticket)
    return values.removeValue(forKey: ticket)
  }

  /// Removes and returns the oldest value of the highest priority; nil if the line is empty.
  mutating func popFirst() -> Value? { line.popFirst().flatMap { values.removeValue(forKey: $0) } }
}
