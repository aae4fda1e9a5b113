/// Decides which downloads may send a request now, in the order of their priority: within the limits for all hosts and
/// for each host, and never while a host has requested a pause. A plain value; times are those of the injected clock.
///
/// ```
/// add -> waiting -> preparing -> ready -> running -> end
///    \-----------------------------^ if the transfer needs no preparation
/// ```
///
/// Only running tickets hold a transfer: hosts whose names cannot be resolved do not slow down others. Hosts with ready
/// tickets of the same priority take turns.
struct TransferScheduler: Sendable {
  /// A place in the schedule.
  struct Ticket: Hashable, Sendable { fileprivate let key: SlotMap<Entry>.Key }

  /// The contact of a ticket with its host.
  enum Contact: Sendable {
    /// The host has responded, perhaps with a refusal.
    case response(HostBackoff.PauseRequest?)
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
    case refuse(Ticket, HostQueue.Refusal)
    /// Report ``wakeUp(_:requestedFor:now:)`` at this time.
    case wakeUp(host: String, at: Duration)
  }

  fileprivate struct Entry: Sendable {
    let host: SlotMap<Host>.Key
    var priority: Priority
    var stage = HostQueue.Stage.new
  }

  fileprivate struct Host: Sendable {
    let name: String
    var queue: HostQueue
    /// The place among the hosts that may start a transfer; nil if this one may not.
    var turn: PriorityQueue<SlotMap<Host>.Key>.Place?
  }

  private typealias HostKey = SlotMap<Host>.Key

  /// True to start no transfers.
  private(set) var isSuspended = false
  /// The hosts of which no transfer starts.
  private var heldHosts: Set<String> = []
  /// The number of ``freeze()`` calls without a ``thaw(now:)``. No transfer starts until it is 0.
  private var freezes = 0
  private let width: Int
  private let makeQueue: @Sendable (_ host: String) -> HostQueue
  private var hosts = SlotMap<Host>()
  private var keys: [String: HostKey] = [:]
  private var entries = SlotMap<Entry>()
  /// The hosts whose next ticket may start as soon as a transfer is free.
  private var turns = PriorityQueue<HostKey>()
  private var running = 0
  /// The number of hosts above which those that are dispensable are dropped.
  private var hostLimit = Self.fewestHosts
  private static let fewestHosts = 4096

  /// - Parameters:
  ///   - width: the maximum number of running transfers.
  ///   - makeQueue: makes the empty queue of a host.
  init(width: Int, makeQueue: @escaping @Sendable (_ host: String) -> HostQueue) {
    self.width = width
    self.makeQueue = makeQueue
  }

  /// The number of hosts with tickets, or with something to be remembered.
  var hostCount: Int { hosts.count }

  /// The number of tickets.
  var ticketCount: Int { entries.count }

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
    let host = key(of: host, now)
    let ticket = Ticket(key: entries.insert(Entry(host: host, priority: priority)))
    if let stage = hosts[host]?.queue.add(ticket, priority, isPrepared: isPrepared) {
      entries[ticket.key]?.stage = stage
    }
    return (ticket, update(host, now))
  }

  /// Changes the order of a ticket among those that wait.
  mutating func change(_ ticket: Ticket, to priority: Priority, now: Duration) -> [Action] {
    guard let entry = entries[ticket.key], entry.priority != priority else { return [] }
    entries[ticket.key]?.priority = priority
    hosts[entry.host]?.queue.change(entry.stage, to: priority)
    return update(entry.host, now)
  }

  /// A transfer is prepared.
  mutating func prepared(_ ticket: Ticket, now: Duration) -> [Action] {
    guard let entry = entries[ticket.key], case .preparing = entry.stage else { return [] }
    if let stage = hosts[entry.host]?.queue.prepared(ticket, entry.priority) { entries[ticket.key]?.stage = stage }
    return update(entry.host, now)
  }

  /// The request of a running transfer is sent. A host with a rate counts it from now on; without this event, from the
  /// end of the transfer.
  mutating func sent(_ ticket: Ticket, now: Duration) -> [Action] {
    guard let host = entries[ticket.key]?.host else { return [] }
    hosts[host]?.queue.sent(ticket, now: now)
    return update(host, now)
  }

  /// A preparation has failed, or a transfer has ended.
  mutating func end(_ ticket: Ticket, _ contact: Contact, now: Duration) -> [Action] {
    guard let entry = entries[ticket.key], entry.stage.hasBegun else { return [] }
    entries.remove(ticket.key)
    if case .running = entry.stage { running -= 1 }
    hosts[entry.host]?.queue.end(ticket, at: entry.stage, contact, now: now)
    return update(entry.host, now)
  }

  /// Removes a ticket whose transfer has not started.
  mutating func remove(_ ticket: Ticket, now: Duration) -> [Action] {
    guard let entry = entries[ticket.key] else { return [] }
    if case .running = entry.stage { return [] }
    entries.remove(ticket.key)
    hosts[entry.host]?.queue.remove(ticket, at: entry.stage, now: now)
    return update(entry.host, now)
  }

  /// A requested time has come.
  mutating func wakeUp(_ host: String, requestedFor time: Duration, now: Duration) -> [Action] {
    guard let key = keys[host], hosts[key]?.queue.takeWakeUp(requestedFor: time) == true else { return [] }
    return update(key, now)
  }

  /// Stops or resumes the start of transfers.
  mutating func suspend(_ isSuspended: Bool, now: Duration) -> [Action] {
    self.isSuspended = isSuspended
    return startTransfers(now, after: [])
  }

  /// Stops or resumes the start of transfers of a host.
  mutating func setHeld(_ host: String, _ isHeld: Bool, now: Duration) -> [Action] {
    if isHeld { heldHosts.insert(host) } else { heldHosts.remove(host) }
    return keys[host].map { update($0, now) } ?? []
  }

  /// Starts no transfers until ``thaw(now:)`` is called as often as this method.
  mutating func freeze() { freezes += 1 }

  mutating func thaw(now: Duration) -> [Action] {
    freezes -= 1
    return startTransfers(now, after: [])
  }

  // MARK: Decisions

  /// Returns what a change at one host leads to.
  private mutating func update(_ host: HostKey, _ now: Duration) -> [Action] {
    var actions: [Action] = []
    advance(host, now, &actions)
    return startTransfers(now, after: actions)
  }

  /// Carries out the steps of a host.
  private mutating func advance(_ host: HostKey, _ now: Duration, _ actions: inout [Action]) {
    guard let steps = hosts[host]?.queue.advance(to: now) else { return }
    if let (tickets, refusal) = steps.refused {
      for ticket in tickets {
        entries.remove(ticket.key)
        actions.append(.refuse(ticket, refusal))
      }
    }
    for ticket in steps.prepared {
      entries[ticket.key]?.stage = .preparing
      actions.append(.prepare(ticket))
    }
    if let time = steps.wakeUp, let name = hosts[host]?.name { actions.append(.wakeUp(host: name, at: time)) }
    let isHeld = !heldHosts.isEmpty && hosts[host].map { heldHosts.contains($0.name) } ?? false
    offerTurn(host, isHeld ? nil : steps.turn)
    if steps.isIdle { drop(host) }
  }

  /// Lets a host wait for a free transfer, if one of its tickets may start.
  private mutating func offerTurn(_ host: HostKey, _ priority: Priority?) {
    var turn = hosts[host]?.turn.take()
    switch (priority, turn) {
    case (let priority?, let place?): turns.change(place, to: priority)
    case (let priority?, nil): turn = turns.append(host, priority)
    case (nil, let place?):
      turns.remove(place)
      turn = nil
    case (nil, nil): return
    }
    hosts[host]?.turn = turn
  }

  /// Returns `actions`, and the starts for which there are free transfers.
  private mutating func startTransfers(_ now: Duration, after actions: [Action]) -> [Action] {
    var actions = actions
    while !isSuspended, freezes == 0, running < width, let host = turns.popFirst() {
      hosts[host]?.turn = nil
      if let ticket = hosts[host]?.queue.takeForTransfer() {
        running += 1
        entries[ticket.key]?.stage = .running
        actions.append(.start(ticket))
      }
      advance(host, now, &actions)
    }
    return actions
  }

  // MARK: Hosts

  /// Returns the key of a host, which is added if it is not known.
  private mutating func key(of host: String, _ now: Duration) -> HostKey {
    if let key = keys[host] { return key }
    if hosts.count >= hostLimit { dropHosts(now) }
    let key = hosts.insert(Host(name: host, queue: makeQueue(host)))
    keys[host] = key
    return key
  }

  private mutating func drop(_ key: HostKey) {
    guard let host = hosts.remove(key) else { return }
    keys[host.name] = nil
    if let place = host.turn { turns.remove(place) }
  }

  /// Forgets hosts that failed a few times, so that any number of hosts takes a bounded amount of memory.
  private mutating func dropHosts(_ now: Duration) {
    for (key, host) in hosts.elements where host.queue.isDispensable(at: now) { drop(key) }
    hostLimit = max(Self.fewestHosts, 2 * hosts.count)
  }
}

extension HostQueue.Stage {
  /// True while the transfer is prepared, and while it runs.
  fileprivate var hasBegun: Bool {
    switch self {
    case .preparing, .running: true
    case .new, .waiting, .ready: false
    }
  }
}
