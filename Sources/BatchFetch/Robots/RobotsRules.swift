internal import HTTPTypes

/// The consequences of fetching a robots.txt, for one crawler (RFC 9309, section 2.3.1).
enum RobotsRules: Sendable {
  /// The rules of the file apply.
  case file(RobotsFile)
  /// The server has no robots.txt for this crawler, so everything is allowed.
  case unavailable
  /// The server failed to deliver its robots.txt, so nothing is allowed.
  case unreachable(status: Int)

  /// Interprets the outcome of fetching a robots.txt. An empty file allows everything, and so does one behind too many
  /// redirects (section 2.3.1.2).
  ///
  /// - Parameters:
  ///   - outcome: The final response, after redirects, or the failure.
  ///   - productToken: The name of the crawler in the file.
  /// - Throws: The failure of `outcome` if it reveals nothing about the file, such as `dns_temporary`.
  init(_ outcome: Result<Download, FetchFailure>, productToken: String) throws(FetchFailure) {
    switch outcome {
    case .success(let download):
      self.init(status: download.response.status.code, body: download.body, productToken: productToken)
    case .failure(let failure):
      switch failure.code {
      case .http(let status): self.init(status: status, body: [], productToken: productToken)
      case .emptyBody, .tooManyRedirects: self = .unavailable
      default: throw failure
      }
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

  /// Returns `blocked_robots` if the rules do not allow a request for `source`; otherwise nil.
  func failure(for source: SourceURL) -> FetchFailure? {
    switch self {
    case .unavailable: return nil
    case .file(let file):
      guard !file.allows(path: source.pathAndQuery) else { return nil }
      return FetchFailure(.blockedRobots, "robots.txt of \(source.host) does not allow this URL.")
    case .unreachable(let status):
      return FetchFailure(
        .blockedRobots,
        "robots.txt of \(source.host) responded with status \(status), so nothing may be requested (RFC 9309, "
          + "section 2.3.1.4).")
    }
  }

  /// The time for which the rules are reused: 24 hours (section 2.4), but 5 minutes after a failure of the server,
  /// because it is usually short.
  var lifetime: Duration {
    if case .unreachable = self { return .seconds(5 * 60) }
    return .seconds(24 * 60 * 60)
  }

  /// The number of bytes in memory.
  var byteCount: Int {
    if case .file(let file) = self { return file.byteCount }
    return 0
  }
}

extension SourceURL {
  /// The path with its slash, and the query with its question mark, if there is one.
  var pathAndQuery: String { String(description.dropFirst("\(scheme.rawValue)://\(host)".count)) }
}
