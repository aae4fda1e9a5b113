/// Decides which downloads may send a request now: at most so many over all hosts and per host, in the order of their
/// priority, and never against the will of a host. A plain value; times are those of the injected clock.
///
/// ```
/// add -> waiting -> preparing -> ready -> running -> end
///    \-----------------------------^ if the transfer needs no preparation
/// ```
///
/// Only running tickets hold a transfer: hosts whose names cannot be resolved do not slow down others. Hosts with ready
/// tickets of the same priority take turns.
struct TransferSchedule: Sendable {
  /// A place in the schedule.
  struct Ticket: Hashable, Sendable { fileprivate let number: UInt64 }

  /// The contact of a ticket with its host.
  enum Contact: Sendable {
    /// The host has responded, perhaps with a refusal.
    case response(HostPace.Refusal?)
    /// The host was reached, but did not respond.
    case reached
    /// No connection could be made.
    case unreachable
    /// The download was given up.
    case abandoned
  }

  enum Action: Equatable, Sendable {
    /// Prepare the transfer, and report ``prepared(_:now:)`` or ``end(_:_:now:)``.
    case prepare(Ticket)
    /// Start the transfer, and report ``sent(_:now:)`` and ``end(_:_:now:)``.
    case start(Ticket)
    /// The ticket has been removed: its host is not available.
    case refuse(Ticket, HostLine.Refusal)
    /// Report ``wakeUp(_:requestedFor:now:)`` at this time.
    case wakeUp(host: String, at: Duration)
  }

  private struct Entry: Sendable {
    let host: String
    var priority: Priority
    var stage = Stage.waiting
  }

  private enum Stage { case waiting, preparing, ready, running }

  /// True to start no transfers.
  private(set) var isSuspended = false
  /// The number of threads that cancel many downloads now: none of these may start in between.
  private var holds = 0
  private let width: Int
  private let makeLine: @Sendable (_ host: String) -> HostLine
  private var lines: [String: HostLine] = [:]
  private var entries: [Ticket: Entry] = [:]
  /// The hosts whose next ticket may start as soon as a transfer is free.
  private var turns = PriorityLine<String>()
  private var running = 0
  private var lastNumber: UInt64 = 0
  /// The number of lines above which those that are dispensable are dropped.
  private var lineLimit = Self.fewestLines
  private static let fewestLines = 4096

  /// - Parameters:
  ///   - width: the maximum number of running transfers.
  ///   - makeLine: makes the empty line of a host.
  init(width: Int, makeLine: @escaping @Sendable (_ host: String) -> HostLine) {
    self.width = width
    self.makeLine = makeLine
  }

  /// The number of hosts with tickets, or with something to be remembered.
  var hostCount: Int { lines.count }

  // MARK: Events

  /// Adds a ticket for a request to `host`.
  ///
  /// - Parameters:
  ///   - host: the host that gets the request.
  ///   - priority: the order among the tickets that wait.
  ///   - isPrepared: true if the transfer needs no preparation.
  ///   - now: the current time.
  mutating func add(
    to host: String, _ priority: Priority, isPrepared: Bool = false, now: Duration
  ) -> (Ticket, [Action]) {
    lastNumber += 1
    let ticket = Ticket(number: lastNumber)
    entries[ticket] = Entry(host: host, priority: priority, stage: isPrepared ? .ready : .waiting)
    if lines.count >= lineLimit { dropLines(now) }
    lines[host, default: makeLine(host)].add(ticket, priority, isPrepared: isPrepared)
    return (ticket, update(host, now))
  }

  /// Changes the order of a ticket among those that wait.
  mutating func change(_ ticket: Ticket, to priority: Priority, now: Duration) -> [Action] {
    guard let host = entries[ticket]?.host, entries[ticket]?.priority != priority else { return [] }
    entries[ticket]?.priority = priority
    lines[host]?.change(ticket, to: priority)
    return update(host, now)
  }

  /// A transfer is prepared.
  mutating func prepared(_ ticket: Ticket, now: Duration) -> [Action] {
    guard let entry = entries[ticket], entry.stage == .preparing else { return [] }
    entries[ticket]?.stage = .ready
    lines[entry.host]?.prepared(ticket, entry.priority)
    return update(entry.host, now)
  }

  /// The request of a running transfer is sent. A host with a rate counts it from now on; without this event, from the
  /// end of the transfer.
  mutating func sent(_ ticket: Ticket, now: Duration) -> [Action] {
    guard let host = entries[ticket]?.host else { return [] }
    lines[host]?.sent(ticket, now: now)
    return update(host, now)
  }

  /// A preparation has failed, or a transfer has ended.
  mutating func end(_ ticket: Ticket, _ contact: Contact, now: Duration) -> [Action] {
    guard let entry = entries[ticket], entry.stage == .preparing || entry.stage == .running else { return [] }
    entries[ticket] = nil
    if entry.stage == .running { running -= 1 }
    lines[entry.host]?.end(ticket, contact, now: now)
    return update(entry.host, now)
  }

  /// Removes a ticket whose transfer has not started.
  mutating func remove(_ ticket: Ticket, now: Duration) -> [Action] {
    guard let entry = entries[ticket], entry.stage != .running else { return [] }
    entries[ticket] = nil
    lines[entry.host]?.remove(ticket, now: now)
    return update(entry.host, now)
  }

  /// A requested time has come.
  mutating func wakeUp(_ host: String, requestedFor time: Duration, now: Duration) -> [Action] {
    lines[host]?.takeWakeUp(requestedFor: time) == true ? update(host, now) : []
  }

  /// Stops or resumes the start of transfers.
  mutating func suspend(_ isSuspended: Bool, now: Duration) -> [Action] {
    self.isSuspended = isSuspended
    return startTransfers(now)
  }

  /// Starts no transfers until ``release(now:)`` is called as often as this method.
  mutating func hold() { holds += 1 }

  mutating func release(now: Duration) -> [Action] {
    holds -= 1
    return startTransfers(now)
  }

  // MARK: Decisions

  /// Returns what a change at one host leads to.
  private mutating func update(_ host: String, _ now: Duration) -> [Action] {
    guard var line = lines.removeValue(forKey: host) else { return [] }
    line.advance(to: now)
    var actions = refuse(&line) + prepare(&line)
    if let time = line.takeWakeUp(at: now) { actions.append(.wakeUp(host: host, at: time)) }
    if line.isIdle(at: now) {
      turns.remove(host)
      return actions + startTransfers(now)
    }
    offerTurn(host, line, now)
    lines[host] = line
    return actions + startTransfers(now)
  }

  /// Removes all tickets of a host that is not available.
  private mutating func refuse(_ line: inout HostLine) -> [Action] {
    guard let refusal = line.refusal else { return [] }
    return line.takeAll().map { ticket in
      entries[ticket] = nil
      return .refuse(ticket, refusal)
    }
  }

  private mutating func prepare(_ line: inout HostLine) -> [Action] {
    var actions: [Action] = []
    while let ticket = line.takeForPreparation() {
      entries[ticket]?.stage = .preparing
      actions.append(.prepare(ticket))
    }
    return actions
  }

  /// Lets a host wait for a free transfer, if one of its tickets may start.
  private mutating func offerTurn(_ host: String, _ line: HostLine, _ now: Duration) {
    guard let priority = line.turn(at: now) else {
      turns.remove(host)
      return
    }
    turns.append(host, priority)
  }

  /// Forgets hosts that failed a few times, so that any number of hosts takes a bounded amount of memory.
  private mutating func dropLines(_ now: Duration) {
    lines = lines.filter { !$0.value.isDispensable(at: now) }
    lineLimit = max(Self.fewestLines, 2 * lines.count)
  }

  private mutating func startTransfers(_ now: Duration) -> [Action] {
    var actions: [Action] = []
    while !isSuspended, holds == 0, running < width, let host = turns.popFirst() {
      guard var line = lines.removeValue(forKey: host) else { continue }
      if let ticket = line.takeForTransfer() {
        running += 1
        entries[ticket]?.stage = .running
        actions.append(.start(ticket))
      }
      actions += prepare(&line)
      if let time = line.takeWakeUp(at: now) { actions.append(.wakeUp(host: host, at: time)) }
      offerTurn(host, line, now)
      lines[host] = line
    }
    return actions
  }
}
