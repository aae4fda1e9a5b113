internal import HTTPTypes

/// The consequences of fetching a robots.txt, for one crawler (RFC 9309, section 2.3.1).
enum RobotsRules: Sendable {
  /// The rules of the file apply.
  case file(RobotsFile)
  /// The server has no robots.txt for this crawler, so everything is allowed.
  case unavailable
  /// The server failed to deliver its robots.txt, so nothing is allowed.
  case unreachable(status: Int)
  /// The fetch failed for a reason that reveals nothing about the file, such as `dns_temporary`. Every request
  /// fails for the same reason.
  indirect case failed(FetchFailure)

  /// Interprets the outcome of fetching a robots.txt. An empty file allows everything, and so does one behind too many
  /// redirects (section 2.3.1.2).
  ///
  /// - Parameters:
  ///   - outcome: The final response, after redirects, or the failure.
  ///   - productToken: The name of the crawler in the file.
  init(_ outcome: Result<Download, FetchFailure>, productToken: String) {
    switch outcome {
    case .success(let download):
      self.init(status: download.response.status.code, body: download.body, productToken: productToken)
    case .failure(let failure):
      self = [.emptyBody, .tooManyRedirects].contains(failure.code) ? .unavailable : .failed(failure)
    }
  }

  private init(status: Int, body: [UInt8], productToken: String) {
    switch status {
    case 200...299: self = .file(RobotsFile(body, productToken: productToken))
    // A 429 is in the range of section 2.3.1.3, which would allow everything. But the server demands fewer requests, so
    // the response does not permit any: the file exists, and its content is unknown.
    case 429, 500...599: self = .unreachable(status: status)
    default: self = .unavailable
    }
  }

  /// The most steps that the rules may take for one URL: about 20 milliseconds. A URL of 200 bytes may have 40,000
  /// rules with wildcards.
  static let maxSteps = 8 << 20

  /// Returns the most steps that ``failure(for:)`` takes.
  func steps(for source: SourceURL) -> Int {
    if case .file(let file) = self { file.steps(forPathOf: source.pathAndQuery.utf8.count) } else { 0 }
  }

  /// Returns the reason why a request for `source` must not be sent: `blocked_robots` if the rules do not allow it or
  /// take more than ``maxSteps``, or the failure of fetching them; otherwise nil.
  func failure(for source: SourceURL) -> FetchFailure? {
    switch self {
    case .unavailable: return nil
    case .file(let file):
      guard steps(for: source) <= Self.maxSteps else {
        return FetchFailure(
          .blockedRobots, "robots.txt of \(source.host) has too many rules to apply them to a URL of this length.")
      }
      guard !file.allows(path: String(source.pathAndQuery)) else { return nil }
      return FetchFailure(.blockedRobots, "robots.txt of \(source.host) does not allow this URL.")
    case .unreachable(let status):
      return FetchFailure(
        .blockedRobots,
        "robots.txt of \(source.host) responded with status \(status), so nothing may be requested (RFC 9309, "
          + "section 2.3.1.4).")
    case .failed(let failure): return failure.ofRobotsFile(at: source.host)
    }
  }

  /// The time for which the rules are reused: 24 hours (section 2.4), but 5 minutes after a failure of the server,
  /// because it is usually short, and one minute after any other failure. A fetch that was canceled, or refused because
  /// of earlier failures of the host, reveals nothing about the next one.
  var lifetime: Duration {
    switch self {
    case .file, .unavailable: .seconds(24 * 60 * 60)
    case .unreachable: .seconds(5 * 60)
    case .failed(let failure): [.cancelled, .hostUnavailable].contains(failure.code) ? .zero : .seconds(60)
    }
  }

  /// The number of bytes in memory.
  var byteCount: Int {
    if case .file(let file) = self { return file.byteCount }
    return 0
  }
}

extension FetchFailure {
  /// Returns the failure of a request that is not sent because fetching the robots.txt of `host` failed in this way.
  fileprivate func ofRobotsFile(at host: String) -> FetchFailure {
    guard code != .cancelled else { return self }
    var failure = self
    failure.message = "robots.txt of \(host) could not be fetched: \(message)"
    failure.head = nil
    failure.attempts = 0
    return failure
  }
}

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
