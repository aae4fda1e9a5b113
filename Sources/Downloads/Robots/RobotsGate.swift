internal import Foundation
internal import HTTPTypes
internal import Synchronization

/// Lets only those requests pass that the robots.txt of their host allows (RFC 9309).
///
/// Fetches each robots.txt once per crawler, and the URLs that arrive in the meantime wait for it. The rules are reused
/// for at most 24 hours, and a failure to fetch them for at most five minutes.
final class RobotsGate: Sendable {
  /// Gets nil if the request may be sent, otherwise the reason why it must not be.
  typealias Verdict = @Sendable (FetchFailure?) -> Void
  /// Fetches a URL as this user agent and by this rule for IP addresses, and calls the closure once with the outcome,
  /// before or after it returns.
  typealias Fetch =
    @Sendable (
      SourceURL, _ userAgent: String?, AddressPolicy, @escaping @Sendable (Result<Download, FetchFailure>) -> Void
    ) -> Void

  private struct Waiter {
    let source: SourceURL
    let verdict: Verdict
  }

  private typealias Table = RobotsTable<Waiter>

  private let fetch: Fetch
  private let now: @Sendable () -> Duration
  private let table = Mutex(Table())
  /// Reads long files and applies their rules, one at a time, on a thread that nobody else needs: a host with many
  /// rules holds up only others like it.
  private let slow: WorkQueue

  /// The steps that are taken on the thread of a caller: well below a millisecond.
  private static let quickSteps = 256 << 10
  /// The length of a file that is read on the thread of a caller, in bytes.
  private static let quickBytes = 16 << 10

  /// - Parameters:
  ///   - now: The time for the age of rules, on any clock that never goes back.
  ///   - fetch: Fetches a robots.txt, following redirects. Its response may be interpreted on the calling thread.
  init(now: @escaping @Sendable () -> Duration, fetch: @escaping Fetch) {
    self.now = now
    self.fetch = fetch
    slow = WorkQueue(
      WorkThreads(count: 1) { work in
        let thread = Thread(block: work)
        thread.name = "thumbs-robots"
        thread.start()
      })
  }

  /// The number of URLs that wait for a robots.txt.
  var waiterCount: Int { table.withLock { $0.waiterCount } }

  /// Calls `verdict` exactly once: before this method returns if the rules are known and few, otherwise when the file
  /// is fetched and its rules are applied.
  /// Local files are always allowed, and so is each robots.txt (RFC 9309, section 2.2.2).
  ///
  /// The verdict is `blocked_robots` if the rules do not allow the URL, or the failure of fetching them.
  ///
  /// - Parameters:
  ///   - source: The URL to request.
  ///   - userAgent: The `User-Agent` of the request, which contains the name of the crawler; nil for none. See
  ///     ``RobotsFile/productToken(ofUserAgent:)``.
  ///   - addresses: The rule for the IP addresses of the request, by which the file is fetched as well.
  ///   - verdict: Gets the verdict.
  func check(
    _ source: SourceURL, userAgent: String?, addresses: AddressPolicy, _ verdict: @escaping Verdict
  ) {
    guard source.scheme != .file, source.pathAndQuery != RobotsFile.path else { return verdict(nil) }
    let token = RobotsFile.productToken(ofUserAgent: userAgent)
    let key = Table.Key(scheme: source.scheme, host: source.host, productToken: token, addresses: addresses)
    let (waiter, now) = (Waiter(source: source, verdict: verdict), now())
    switch table.withLock({ $0.query(key, waiter, now: now) }) {
    case .known(let rules): judge(waiter, by: rules)
    case .waits: break
    case .mustFetch: fetchRules(for: key, userAgent: userAgent)
    }
  }

  /// Throws `blocked_robots` if an `X-Robots-Tag` field of a response forbids the use of its image, which a 304 (Not
  /// Modified) only confirms.
  ///
  /// - Parameters:
  ///   - response: The response.
  ///   - userAgent: The `User-Agent` of the request; nil for none.
  func check(_ response: HTTPResponse, userAgent: String?) throws(FetchFailure) {
    guard response.status.kind == .successful || response.status == .notModified else { return }
    let token = RobotsFile.productToken(ofUserAgent: userAgent)
    if let tag = RobotsTag.first(in: response.headerFields, productToken: token) { throw tag.failure }
  }

  private func fetchRules(for key: Table.Key, userAgent: String?) {
    do {
      let url = try SourceURL("\(key.scheme.rawValue)://\(key.host)\(RobotsFile.path)")
      fetch(url, userAgent, key.addresses) { [self] in finish(key, $0) }
    } catch {
      finish(key, .failure(error))
    }
  }

  private func finish(_ key: Table.Key, _ outcome: Result<Download, FetchFailure>) {
    guard case .success(let download) = outcome, download.body.count > Self.quickBytes else {
      return read(outcome, for: key)
    }
    slow.async { [self] in read(outcome, for: key) }
  }

  private func read(_ outcome: Result<Download, FetchFailure>, for key: Table.Key) {
    let (rules, now) = (RobotsRules(outcome, productToken: key.productToken), now())
    for waiter in table.withLock({ $0.finish(key, rules, now: now) }) { judge(waiter, by: rules) }
  }

  private func judge(_ waiter: Waiter, by rules: RobotsRules) {
    let steps = rules.steps(for: waiter.source)
    guard steps > Self.quickSteps, steps <= RobotsRules.maxSteps else {
      return waiter.verdict(rules.failure(for: waiter.source))
    }
    slow.async { waiter.verdict(rules.failure(for: waiter.source)) }
  }
}
