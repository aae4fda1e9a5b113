/// The robots.txt files of many origins, and the callers waiting for them. A plain value: its owner guards it with a
/// lock and fetches the files. Times are those of one clock.
struct RobotsTable<Waiter> {
  /// A scheme with a host and its port, which has its own robots.txt (RFC 9309, section 2.3), and a crawler, which has
  /// its own rules there. The file is fetched by a rule for IP addresses.
  struct Key: Hashable, Sendable {
    let scheme: SourceURL.Scheme
    let host: String
    let productToken: String
    let addresses: AddressPolicy
  }

  /// The immediate result of a query.
  enum QueryReply {
    /// The rules are known.
    case known(RobotsRules)
    /// The caller waits for the file, which is being fetched.
    case waits
    /// The caller waits for the file and must fetch it.
    case mustFetch
  }

  private struct Entry {
    let rules: RobotsRules
    let start: Duration
    var end: Duration { start + rules.lifetime }
  }

  private var known: [Key: Entry] = [:]
  private var pending: [Key: [Waiter]] = [:]
  private var byteCount = 0

  /// The maximum number of known origins, so that a list with fewer hosts, in any order, needs one fetch for each.
  /// Without rules, this many take about 25 MB. Above a limit, expired entries are removed, then the oldest.
  static var capacity: Int { 100_000 }
  /// The maximum memory for rules, in bytes.
  static var maxBytes: Int { 64 << 20 }

  /// The number of known origins, including expired ones.
  var count: Int { known.count }

  /// The number of waiting callers.
  var waiterCount: Int { pending.values.reduce(0) { $0 + $1.count } }

  /// Returns the rules for `key` if they are known; otherwise lets the caller wait for them.
  mutating func query(_ key: Key, _ waiter: Waiter, now: Duration) -> QueryReply {
    if let entry = known[key], entry.end > now { return .known(entry.rules) }
    let isFirst = pending[key] == nil
    pending[key, default: []].append(waiter)
    return isFirst ? .mustFetch : .waits
  }

  /// Ends the fetch for `key`, keeps `rules` and returns the waiters in their order. A second end of one fetch is
  /// ignored.
  mutating func finish(_ key: Key, _ rules: RobotsRules, now: Duration) -> [Waiter] {
    guard let waiters = pending.removeValue(forKey: key) else { return [] }
    remove(key)
    known[key] = Entry(rules: rules, start: now)
    byteCount += rules.byteCount
    evict(now: now)
    return waiters
  }

  /// Removes entries above a limit until an eighth of it is free: finding the oldest ones takes a look at all.
  private mutating func evict(now: Duration) {
    guard exceeds(eighths: 8) else { return }
    for key in known.filter({ $0.value.end <= now }).keys { remove(key) }
    for (key, _) in known.sorted(by: { $0.value.start < $1.value.start }) {
      guard exceeds(eighths: 7) else { return }
      remove(key)
    }
  }

  private func exceeds(eighths: Int) -> Bool {
    known.count > Self.capacity / 8 * eighths || byteCount > Self.maxBytes / 8 * eighths
  }

  private mutating func remove(_ key: Key) {
    byteCount -= known.removeValue(forKey: key)?.rules.byteCount ?? 0
  }
}
