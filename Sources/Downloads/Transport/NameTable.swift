/// The known addresses of hosts, and the callers waiting for lookups. A plain value: its owner guards it with a lock
/// and performs the lookups.
struct NameTable<Waiter> {
  /// The identity of one waiter for one lookup.
  struct Ticket: Hashable {
    let host: String
    fileprivate let number: Int
  }

  /// The immediate result of a query.
  enum Reply {
    /// The result is known.
    case known(HostResolution)
    /// The addresses are known, but old: the caller starts a lookup, for which it does not wait.
    case old(HostResolution)
    /// The caller waits for a lookup in the given state.
    case waits(Ticket, LookUp)
  }

  /// The state of a lookup: to be started by the caller, waiting for a thread, or running.
  enum LookUp {
    case new, queued, running
  }

  private struct Pending {
    var isRunning = false
    var waiters: [Int: Waiter] = [:]
  }

  private var known: [String: (resolution: HostResolution, expiry: ContinuousClock.Instant)] = [:]
  private var pending: [String: Pending] = [:]
  private var lastNumber = 0

  /// The time for which a result is reused. `getaddrinfo` does not report the time to live of a record; libcurl assumes
  /// the same minute (`CURLOPT_DNS_CACHE_TIMEOUT`).
  static var lifetime: Duration { .seconds(60) }
  /// The further time for which addresses are used while they are looked up again, so that name servers that fail
  /// then stop nothing (RFC 8767).
  static var staleLifetime: Duration { .seconds(600) }
  /// The maximum number of known hosts. At the limit, expired entries are removed, and if that is not enough, all.
  static var capacity: Int { 4096 }

  /// The number of waiting callers.
  var waiterCount: Int { pending.values.reduce(0) { $0 + $1.waiters.count } }

  /// Returns true if the addresses of `host` are known.
  func knows(_ host: String, now: ContinuousClock.Instant) -> Bool {
    guard let entry = known[host], case .addresses = entry.resolution else { return false }
    return entry.expiry > now
  }

  /// Returns the result for `host` if it is known; otherwise lets the caller join its lookup, or start one.
  mutating func resolve(_ host: String, _ waiter: Waiter, now: ContinuousClock.Instant) -> Reply {
    if let entry = known[host] {
      if entry.expiry > now { return .known(entry.resolution) }
      if case .addresses = entry.resolution, entry.expiry + Self.staleLifetime > now {
        guard pending[host] == nil else { return .known(entry.resolution) }
        pending[host] = Pending()
        return .old(entry.resolution)
      }
    }
    lastNumber += 1
    let lookUp: LookUp = pending[host].map { $0.isRunning ? .running : .queued } ?? .new
    pending[host, default: Pending()].waiters[lastNumber] = waiter
    return .waits(Ticket(host: host, number: lastNumber), lookUp)
  }

  /// Marks the lookup of `host` as running and returns its waiters so far.
  mutating func begin(_ host: String) -> [(ticket: Ticket, waiter: Waiter)] {
    pending[host]?.isRunning = true
    return pending[host]?.waiters.map { (Ticket(host: host, number: $0.key), $0.value) } ?? []
  }

  /// Removes and returns a waiter; nil if the lookup has ended. The lookup itself continues, because `getaddrinfo`
  /// cannot be interrupted, and later callers join it.
  mutating func leave(_ ticket: Ticket) -> Waiter? {
    pending[ticket.host]?.waiters.removeValue(forKey: ticket.number)
  }

  /// Ends the lookup of `host` and returns its waiters. A temporary failure is not kept.
  mutating func finish(_ host: String, _ resolution: HostResolution, now: ContinuousClock.Instant) -> [Waiter] {
    switch resolution {
    case .addresses(let addresses) where !addresses.isEmpty: keep(resolution, of: host, now)
    case .notFound: keep(resolution, of: host, now)
    case .addresses, .temporary: break
    }
    return pending.removeValue(forKey: host).map { Array($0.waiters.values) } ?? []
  }

  private mutating func keep(_ resolution: HostResolution, of host: String, _ now: ContinuousClock.Instant) {
    if known.count >= Self.capacity { known = known.filter { $0.value.expiry > now } }
    if known.count >= Self.capacity { known = [:] }
    known[host] = (resolution, now + Self.lifetime)
  }
}
