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
  /// Local files and objects in buckets are always allowed, and so is each robots.txt (RFC 9309, section 2.2.2).
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
    guard source.scheme.isWeb, source.pathAndQuery != RobotsFile.path else { return verdict(nil) }
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

/// Fetches each robots.txt with the downloader whose requests it concerns, so that its requests are paced and limited
/// like all others of that host.
final class RobotsFetcher: Sendable {
  /// Weak, because the context owns the fetcher.
  fileprivate struct Owner {
    weak var context: DownloadContext?
  }

  private let owner = Mutex(Owner())

  /// Sets the context. Until then, every fetch ends as canceled.
  func connect(to context: DownloadContext) { owner.withLock { $0.context = context } }

  /// Downloads `source` as `userAgent`, from an IP address that the policy allows. `completion` is called exactly once,
  /// on any thread.
  func fetch(
    _ source: SourceURL, userAgent: String?, addresses: AddressPolicy,
    _ completion: @escaping @Sendable (Result<Download, FetchFailure>) -> Void
  ) {
    guard let context = owner.withLock({ $0.context }) else { return completion(.failure(.cancelled)) }
    var request = DownloadRequest(source: source, priority: .high)
    request.isRobotsFile = true
    request.responses = .image
    request.addresses = addresses
    request.headerFields[.userAgent] = userAgent
    context.join(request, RobotsSubscriber(completion), demand: Demand(priority: .high))
  }
}

/// The gate as the subscriber of one download.
private final class RobotsSubscriber: DownloadSubscriber {
  private let completion: @Sendable (Result<Download, FetchFailure>) -> Void

  init(_ completion: @escaping @Sendable (Result<Download, FetchFailure>) -> Void) { self.completion = completion }

  var wantsProgress: Bool { false }
  func progressed(_ progress: DownloadProgress) {}
  func ended(_ result: Result<Download, FetchFailure>) { completion(result) }
}

/// The treatment of `robots.txt` (RFC 9309) and of the `X-Robots-Tag` header field.
public enum RobotsPolicy: Hashable, Sendable {
  /// Both are ignored.
  case ignored
  /// A URL that its host disallows fails with `blocked_robots`. An image that is fresh in the cache is used without a
  /// request to its host, even if it was stored while both were ignored.
  case obeyed
}

extension TransferLimits {
  /// The limits for a robots.txt: at least five redirects are followed (RFC 9309, section 2.3.1.2), and the size
  /// is that of the part that is read (section 2.5).
  var forRobotsFile: TransferLimits {
    var limits = self
    limits.maxRedirects = max(5, maxRedirects)
    limits.maxBytes = RobotsFile.maxBytes
    return limits
  }
}
