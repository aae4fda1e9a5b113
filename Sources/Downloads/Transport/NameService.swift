internal import CCurl
internal import Foundation
internal import Glibc
internal import Synchronization

/// Resolves host names on its own threads, with at most one lookup per host at a time.
///
/// A lookup blocks its thread until the name servers respond: half a minute if they are dead. It therefore runs neither
/// on the event loop nor on a dispatch queue, whose few threads others need, and each caller waits only up to its own
/// limit.
final class NameService: Sendable {
  typealias Completion = @Sendable (HostResolution) -> Void

  private struct Caller {
    let limit: Duration
    let completion: Completion
  }

  /// The maximum number of lookup threads. It exceeds the usual number of transfers, because abandoned lookups keep
  /// their threads until the system gives up.
  private static let width = 256

  private let resolve: @Sendable (String) -> HostResolution
  private let lookUps: WorkQueue
  private let deadlines = DispatchQueue(label: "thumbs.names", target: .global())
  private let table = Mutex(NameTable<Caller>())
  private let now: @Sendable () -> ContinuousClock.Instant

  /// - Parameters:
  ///   - resolve: resolves a host name; may block.
  ///   - now: the clock for the expiry of addresses.
  init(
    resolve: @escaping @Sendable (String) -> HostResolution,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.resolve = resolve
    self.now = now
    lookUps = WorkQueue(
      WorkThreads(count: Self.width) { work in
        let thread = Thread(block: work)
        thread.name = "thumbs-names"
        thread.stackSize = 512 << 10
        thread.start()
      })
  }

  /// The number of callers waiting for a lookup.
  var waiterCount: Int { table.withLock { $0.waiterCount } }

  /// Returns true if the addresses of `host` are known.
  func knows(_ host: String) -> Bool { table.withLock { $0.knows(host, now: now()) } }

  /// Calls `completion` exactly once: before this method returns if the result is known, otherwise on another
  /// thread. The result is ``HostResolution/temporary`` if the lookup runs for longer than `limit`.
  func resolve(_ host: String, within limit: Duration, _ completion: @escaping Completion) {
    let caller = Caller(limit: limit, completion: completion)
    switch table.withLock({ $0.resolve(host, caller, now: now()) }) {
    case .known(let resolution): completion(resolution)
    case .old(let resolution):
      lookUps.async { [self] in lookUp(host) }
      completion(resolution)
    case .waits(_, .new): lookUps.async { [self] in lookUp(host) }
    case .waits(_, .queued): break
    case .waits(let ticket, .running): expire(ticket, after: limit)
    }
  }

  private func lookUp(_ host: String) {
    for (ticket, caller) in table.withLock({ $0.begin(host) }) { expire(ticket, after: caller.limit) }
    let resolution = resolve(host)
    for caller in table.withLock({ $0.finish(host, resolution, now: now()) }) { caller.completion(resolution) }
  }

  private func expire(_ ticket: NameTable<Caller>.Ticket, after limit: Duration) {
    deadlines.asyncAfter(deadline: .now() + .milliseconds(limit.milliseconds)) { [weak self] in
      self?.table.withLock { $0.leave(ticket) }?.completion(.temporary)
    }
  }
}

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

/// The result of a name lookup.
enum HostResolution: Hashable, Sendable {
  /// The IP addresses of the host.
  case addresses([IPAddress])
  /// The host does not exist.
  case notFound
  /// The name service failed, and may succeed later.
  case temporary

  /// Resolves `host` with the system's resolver. Blocks until the name servers respond or time out.
  @Sendable static func system(_ host: String) -> HostResolution {
    var list: UnsafeMutablePointer<addrinfo>?
    // Without a socket type, the list would contain each address once per type.
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    let status = getaddrinfo(host, nil, &hints, &list)
    guard status == 0 else { return HostResolution(status: status) }
    defer { freeaddrinfo(list) }
    return .addresses(sequence(first: list, next: { $0?.pointee.ai_next }).compactMap { $0?.ipAddress })
  }

  /// Returns the failure for `host`; nil if it has addresses.
  func failure(of host: String) -> FetchFailure? {
    switch self {
    case .addresses(let addresses) where !addresses.isEmpty: nil
    case .addresses, .temporary: FetchFailure(.dnsTemporary, "The name lookup for \(host) failed temporarily.")
    case .notFound: FetchFailure(.dnsNotFound, "The host \(host) does not exist.")
    }
  }

  /// Creates the result for an error status of `getaddrinfo`.
  init(status: Int32) {
    switch status {
    case EAI_AGAIN, EAI_MEMORY, EAI_SYSTEM: self = .temporary
    default: self = .notFound
    }
  }
}

extension UnsafeMutablePointer<addrinfo> {
  fileprivate var ipAddress: IPAddress? {
    guard let address = pointee.ai_addr else { return nil }
    let raw = UnsafeRawBufferPointer(start: address, count: Int(pointee.ai_addrlen))
    return switch pointee.ai_family {
    case AF_INET: IPAddress(bytes: raw[4..<8])
    case AF_INET6: IPAddress(bytes: raw[8..<24])
    default: nil
    }
  }
}
