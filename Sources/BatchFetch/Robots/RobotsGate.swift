internal import HTTPTypes
internal import Synchronization

/// Lets only those requests pass that the robots.txt of their host allows (RFC 9309).
///
/// Fetches each robots.txt once, and the URLs that arrive in the meantime wait for it. The rules are reused for at most
/// 24 hours, and a failure to fetch them for at most five minutes.
final class RobotsGate: Sendable {
  /// Gets nil if the request may be sent, otherwise the reason why it must not be.
  typealias Verdict = @Sendable (FetchFailure?) -> Void
  /// Fetches a URL, and calls the closure once with the outcome, before or after it returns.
  typealias Fetch = @Sendable (SourceURL, @escaping @Sendable (Result<Download, FetchFailure>) -> Void) -> Void

  private struct Waiter {
    let source: SourceURL
    let verdict: Verdict
  }

  private typealias Table = RobotsTable<Waiter>

  /// The name of the crawler in a robots.txt.
  let productToken: String
  private let fetch: Fetch
  private let now: @Sendable () -> ContinuousClock.Instant
  private let table = Mutex(Table())

  /// - Parameters:
  ///   - productToken: The name of the crawler in a robots.txt. See ``RobotsFile/productToken(ofUserAgent:)``.
  ///   - now: The clock for the age of rules. Default: the continuous clock.
  ///   - fetch: Fetches a robots.txt, following redirects. Its response may be interpreted on the calling thread.
  init(
    productToken: String, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }, fetch: @escaping Fetch
  ) {
    self.productToken = productToken
    self.now = now
    self.fetch = fetch
  }

  /// The number of URLs that wait for a robots.txt.
  var waiterCount: Int { table.withLock { $0.waiterCount } }

  /// Calls `verdict` exactly once: before this method returns if the rules are known, otherwise when the fetch ends.
  /// Local files are always allowed, and so is each robots.txt (RFC 9309, section 2.2.2).
  ///
  /// The verdict is `blocked_robots` if the rules do not allow the URL, or the failure of fetching them.
  func check(_ source: SourceURL, _ verdict: @escaping Verdict) {
    guard source.scheme != .file, source.pathAndQuery != RobotsFile.path else { return verdict(nil) }
    let origin = Table.WebOrigin(scheme: source.scheme, host: source.host)
    let (waiter, now) = (Waiter(source: source, verdict: verdict), now())
    switch table.withLock({ $0.query(origin, waiter, now: now) }) {
    case .known(let rules): verdict(rules.failure(for: source))
    case .waits: break
    case .mustFetch: fetchRules(of: origin)
    }
  }

  /// Throws `blocked_robots` if an `X-Robots-Tag` field of a response forbids the use of its image, which a 304 response
  /// only confirms.
  func check(_ response: HTTPResponse) throws(FetchFailure) {
    guard response.status.kind == .successful || response.status == .notModified else { return }
    if let tag = RobotsTag.first(in: response.headerFields, productToken: productToken) { throw tag.failure }
  }

  private func fetchRules(of origin: Table.WebOrigin) {
    do {
      let url = try SourceURL("\(origin.scheme.rawValue)://\(origin.host)\(RobotsFile.path)")
      fetch(url) { [self] in finish(origin, $0) }
    } catch {
      finish(origin, .failure(error))
    }
  }

  private func finish(_ origin: Table.WebOrigin, _ outcome: Result<Download, FetchFailure>) {
    let (rules, now) = (RobotsRules(outcome, productToken: productToken), now())
    for waiter in table.withLock({ $0.finish(origin, rules, now: now) }) {
      waiter.verdict(rules.failure(for: waiter.source))
    }
  }
}
