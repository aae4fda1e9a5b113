import DownloadSupport
import Foundation
import HTTPTypes
import Testing

@testable import Downloads

@Suite struct RobotsRulesTests {
  private let source: SourceURL

  init() throws { source = try SourceURL("https://images.example/a/b.png?c=/d") }

  private func rules(status: Int, _ text: String = "User-agent: *\nDisallow: /a") -> RobotsRules {
    RobotsRules(.success(.robots(text, status: status)), productToken: "thumbs")
  }

  @Test(arguments: [200, 203, 206, 299])
  func `The file of a successful response applies`(status: Int) throws {
    let failure = rules(status: status).failure(for: source)
    #expect(failure == FetchFailure(.blockedRobots, "robots.txt of images.example does not allow this URL."))
    #expect(try rules(status: status).failure(for: SourceURL("https://images.example/b")) == nil)
    #expect(rules(status: status, "").failure(for: source) == nil)
    #expect(rules(status: status).lifetime == .seconds(86_400))
  }

  @Test(arguments: [300, 301, 304, 400, 401, 403, 404, 410, 428, 430, 451, 499, 600])
  func `Everything is allowed without a file`(status: Int) throws {
    #expect(rules(status: status).failure(for: source) == nil)
    #expect(rules(status: status).lifetime == .seconds(86_400))
  }

  @Test(arguments: [429, 500, 502, 503, 504, 599])
  func `Nothing is allowed after a failure of the server`(status: Int) throws {
    let message =
      "robots.txt of images.example responded with status \(status), so nothing may be requested (RFC 9309, "
      + "section 2.3.1.4)."
    #expect(rules(status: status).failure(for: source) == FetchFailure(.blockedRobots, message))
    #expect(rules(status: status).lifetime == .seconds(300))
  }

  @Test(arguments: [FailureCode.tooManyRedirects, .emptyBody])
  func `An endless redirect and an empty file allow everything`(code: FailureCode) throws {
    #expect(RobotsRules(.failure(FetchFailure(code, "")), productToken: "").failure(for: source) == nil)
  }

  @Test(arguments: [FailureCode.dnsNotFound, .connectFailed, .timeoutTotal, .tls, .timeoutFirstByte])
  func `After another failure, every request fails for the same reason`(code: FailureCode) {
    let rules = RobotsRules(.failure(FetchFailure(code, "It failed.", httpStatus: 200, attempts: 4)), productToken: "")
    let message = "robots.txt of images.example could not be fetched: It failed."
    #expect(rules.failure(for: source) == FetchFailure(code, message))
    #expect(rules.lifetime == .seconds(60))
  }

  @Test(arguments: [FailureCode.cancelled, .hostUnavailable])
  func `A failure without a request is not kept`(code: FailureCode) {
    #expect(RobotsRules(.failure(FetchFailure(code, "")), productToken: "").lifetime == .zero)
  }

  @Test(arguments: [
    ("https://a.example", "/"), ("HTTP://u:p@A.example:8080/%7Eb/../c?d=e?f#g", "/c?d=e?f"),
    ("http://[::1]:81/a", "/a"), ("https://b\u{FC}cher.example/\u{E9}", "/%C3%A9"), ("file:///a/b", "/a/b"),
  ])
  func `The path of a URL includes its query, and nothing else`(url: String, path: String) throws {
    #expect(try SourceURL(url).pathAndQuery == path)
  }
}

extension Download {
  /// A response with the robots.txt `text`.
  static func robots(_ text: String, status: Int = 200) -> Download {
    Download(
      response: HTTPResponse(status: .init(code: status)), body: Array(text.utf8), requestedAt: .distantPast,
      respondedAt: .distantPast, attempts: 1, queued: .zero, elapsed: .zero)
  }
}
