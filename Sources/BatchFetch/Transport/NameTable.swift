/// The addresses of hosts that are known, and the callers who wait for those that are being looked up. A plain value:
/// its owner guards it with a lock, and makes the look-ups.
struct NameTable<Waiter> {
  /// Names one waiter of one look-up.
  struct Ticket: Hashable {
    let host: String
    fileprivate let number: Int
  }

  /// What a question comes to at once.
  enum Reply {
    /// The addresses are known.
    case known([IPAddress])
    /// The caller waits for a look-up: for one that has to be made now, that waits for a thread, or that runs.
    case waits(Ticket, LookUp)
  }

  enum LookUp {
    case new, queued, running
  }

  private struct Pending {
    var isRunning = false
    var waiters: [Int: Waiter] = [:]
  }

  private var known: [String: (addresses: [IPAddress], expiry: ContinuousClock.Instant)] = [:]
  private var pending: [String: Pending] = [:]
  private var lastNumber = 0

  /// The time for which addresses are used again. The system does not tell the time to live of a record; this is what
  /// libcurl assumes (CURLOPT_DNS_CACHE_TIMEOUT).
  static var lifetime: Duration { .seconds(60) }
  /// Hosts that are kept; beyond, those whose time is over go, and all of them where that is not enough.
  static var capacity: Int { 4096 }

  /// Callers who wait.
  var waiterCount: Int { pending.values.reduce(0) { $0 + $1.waiters.count } }

  /// Asks for `host`. A caller whose look-up is on its way joins it.
  mutating func ask(_ host: String, _ waiter: Waiter, now: ContinuousClock.Instant) -> Reply {
    if let entry = known[host], entry.expiry > now { return .known(entry.addresses) }
    lastNumber += 1
    let lookUp: LookUp = pending[host].map { $0.isRunning ? .running : .queued } ?? .new
    pending[host, default: Pending()].waiters[lastNumber] = waiter
    return .waits(Ticket(host: host, number: lastNumber), lookUp)
  }

  /// The look-up of `host` has a thread now. The result is who waits for it so far.
  mutating func begin(_ host: String) -> [(ticket: Ticket, waiter: Waiter)] {
    pending[host]?.isRunning = true
    return pending[host]?.waiters.map { (Ticket(host: host, number: $0.key), $0.value) } ?? []
  }

  /// Takes out a caller who waits no longer; nil where the look-up has ended. The look-up itself goes on: a system's
  /// question cannot be taken back, and whoever asks again joins it.
  mutating func leave(_ ticket: Ticket) -> Waiter? {
    pending[ticket.host]?.waiters.removeValue(forKey: ticket.number)
  }

  /// The look-up of `host` has ended. The result is who waited for it. Only addresses are remembered: a failure may pass.
  mutating func settle(_ host: String, _ resolution: HostResolution, now: ContinuousClock.Instant) -> [Waiter] {
    if case .addresses(let addresses) = resolution, !addresses.isEmpty {
      if known.count >= Self.capacity { known = known.filter { $0.value.expiry > now } }
      if known.count >= Self.capacity { known = [:] }
      known[host] = (addresses, now + Self.lifetime)
    }
    return pending.removeValue(forKey: host).map { Array($0.waiters.values) } ?? []
  }
}
