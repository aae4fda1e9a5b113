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
