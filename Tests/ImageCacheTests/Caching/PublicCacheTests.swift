import Foundation
import HTTPTypes
import Testing

@testable import ImageCache

/// The cases of the public suite http-tests/cache-tests that apply to a private cache of complete responses, under the
/// same names. As in that suite, a response is requested again three seconds after it arrived, and dates are in seconds
/// relative to its arrival.
@Suite("cache-tests") struct PublicCacheTests {
  /// A header field of the response.
  enum Field: Sendable {
    case control(String), age(String), expires(String), expiresIn(Int), date(Int), dateText(String), modified(Int)
    case vary(String)

    var field: HTTPField {
      switch self {
      case .control(let value): HTTPField(name: .cacheControl, value: value)
      case .age(let value): HTTPField(name: .age, value: value)
      case .expires(let value): HTTPField(name: .expires, value: value)
      case .expiresIn(let seconds): HTTPField(name: .expires, value: text(seconds))
      case .date(let seconds): HTTPField(name: .date, value: text(seconds))
      case .dateText(let value): HTTPField(name: .date, value: value)
      case .modified(let seconds): HTTPField(name: .lastModified, value: text(seconds))
      case .vary(let value): HTTPField(name: .vary, value: value)
      }
    }
  }

  struct Case: CustomTestStringConvertible, Sendable {
    var name: String
    var isReused: Bool
    var fields: [Field]
    var testDescription: String { name }

    init(_ name: String, reused isReused: Bool, _ fields: Field...) {
      self.name = name
      self.isReused = isReused
      self.fields = fields
    }
  }

  static let start = 1_790_000_000

  static func text(_ seconds: Int) -> String {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(identifier: "GMT")
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    return formatter.string(from: Date(timeIntervalSince1970: TimeInterval(start + seconds)))
  }

  private static func policy(_ fields: [Field]) -> CachePolicy? {
    var response = HTTPResponse(status: .ok)
    for field in fields { response.headerFields.append(field.field) }
    let date = Date(timeIntervalSince1970: TimeInterval(start))
    return CachePolicy(response: response, requestedAt: date, respondedAt: date)
  }

  static let freshness = [
    Case("freshness-none", reused: false),
    Case("freshness-max-age", reused: true, .control("max-age=3600")),
    Case("freshness-max-age-quoted", reused: true, .control("max-age=\"3600\"")),
    Case("freshness-max-age-single-quoted", reused: false, .control("max-age='3600'")),
    Case("freshness-max-age-ignore-quoted", reused: false, .control("extension=\"max-age=100\", max-age=1")),
    Case("freshness-max-age-ignore-quoted-rev", reused: false, .control("max-age=1, extension=\"max-age=100\"")),
    Case("freshness-max-age-ignore-quoted-all", reused: false, .control("extension=\"max-age=100\", max-age=\"1\"")),
    Case("freshness-max-age-leading-zero", reused: true, .control("max-age=003600")),
    Case("freshness-max-age-0", reused: false, .control("max-age=0")),
    Case("freshness-max-age-a100", reused: false, .control("max-age=a3600")),
    Case("freshness-max-age-100a", reused: false, .control("max-age=3600a")),
    Case("freshness-max-age-negative", reused: false, .control("max-age=-3600")),
    Case("freshness-max-age-max", reused: true, .control("max-age=2147483648")),
    Case("freshness-max-age-max-plus", reused: true, .control("max-age=99999999999")),
    Case("freshness-max-age-extension", reused: true, .control("foobar, max-age=3600")),
    Case("freshness-max-age-case-insenstive", reused: true, .control("MaX-aGe=3600")),
    Case("freshness-max-age-s-maxage-private", reused: false, .control("s-maxage=3600, max-age=1")),
    Case(
      "freshness-max-age-s-maxage-private-multiple", reused: false, .control("s-maxage=3600"), .control("max-age=1")),
    Case("freshness-max-age-two-fresh-stale-sameline", reused: true, .control("max-age=1800, max-age=1")),
    Case("freshness-max-age-two-stale-fresh-sameline", reused: false, .control("max-age=1, max-age=1800")),
    Case("freshness-max-age-two-stale-fresh-sepline", reused: false, .control("max-age=1"), .control("max-age=1800")),
    Case("freshness-max-age-age", reused: false, .date(0), .control("max-age=10"), .age("15")),
    Case("freshness-max-age-expires", reused: true, .control("max-age=3600"), .expiresIn(-10000), .date(0)),
    Case("freshness-max-age-expires-invalid", reused: true, .control("max-age=3600"), .expires("0"), .date(0)),
    Case("freshness-max-age-0-expires", reused: false, .expiresIn(10000), .control("max-age=0"), .date(0)),
  ]

  static let expiry = [
    Case("freshness-expires-future", reused: true, .expiresIn(30 * 86400), .date(0)),
    Case("freshness-expires-past", reused: false, .expiresIn(-30 * 86400), .date(0)),
    Case("freshness-expires-present", reused: false, .expiresIn(0), .date(0)),
    Case("freshness-expires-old-date", reused: false, .expiresIn(300), .date(400)),
    Case("freshness-expires-invalid", reused: false, .expires("0"), .date(0)),
    Case("freshness-expires-invalid-date", reused: true, .dateText("foo"), .expiresIn(10)),
    Case("freshness-expires-age-slow-date", reused: false, .date(-10), .expiresIn(10), .age("25")),
    Case("freshness-expires-age-fast-date", reused: false, .date(10), .expiresIn(20), .age("15")),
    Case("freshness-expires-invalid-time-periods", reused: false, .expires("Thu, 18 Aug 2050 02.01.18 GMT"), .date(0)),
  ]

  static let ages = [
    Case("age-parse-nonnumeric", reused: true, .date(0), .control("max-age=3600"), .age("abc")),
    Case("age-parse-negative", reused: true, .date(0), .control("max-age=3600"), .age("-7200")),
    Case("age-parse-float", reused: true, .date(0), .control("max-age=3600"), .age("7200.0")),
    Case("age-parse-suffix", reused: false, .date(0), .control("max-age=3600"), .age("7200,0")),
    Case("age-parse-suffix-twoline", reused: false, .date(0), .control("max-age=3600"), .age("7200"), .age("0")),
    Case("age-parse-prefix", reused: true, .date(0), .control("max-age=3600"), .age("0,7200")),
    Case("age-parse-dup-0", reused: true, .date(0), .control("max-age=3600"), .age("0, 0")),
    Case("age-parse-dup-old", reused: false, .date(0), .control("max-age=3600"), .age("7200, 7200")),
    Case("heuristic-200-cached", reused: true, .modified(-86400), .date(0)),
    Case("heuristic-delta-10", reused: false, .modified(-10), .date(0)),
    Case("heuristic-delta-60", reused: true, .modified(-60), .date(0)),
    Case("heuristic-delta-3600", reused: true, .modified(-3600), .date(0)),
  ]

  @Test(arguments: freshness + expiry + ages)
  func `A response is reused after three seconds or not, as the public suite expects`(aCase: Case) throws {
    let policy = try #require(Self.policy(aCase.fields))
    let later = Date(timeIntervalSince1970: TimeInterval(Self.start + 3))

    #expect((policy.state(at: later) == .fresh) == aCase.isReused)
  }

  static let stale = [
    Case("stale-close", reused: true, .control("max-age=2")),
    Case("stale-sie-close", reused: true, .control("max-age=2, stale-if-error=60")),
    Case("stale-close-must-revalidate", reused: false, .control("max-age=2, must-revalidate")),
    Case("vary-star", reused: false, .control("max-age=2, stale-if-error=60"), .vary("*")),
    Case("stale-close-no-cache", reused: false, .control("max-age=2, no-cache")),
  ]

  @Test(arguments: stale)
  func `A stale response is served on error or not, as the public suite expects`(aCase: Case) throws {
    let policy = try #require(Self.policy(aCase.fields))
    let later = Date(timeIntervalSince1970: TimeInterval(Self.start + 3))

    #expect(policy.state(at: later) != .fresh && policy.mayServeStaleOnError(at: later) == aCase.isReused)
  }

  @Test(arguments: ["no-store", "max-age=3600, no-store", "No-StOrE"])
  func `A response with no-store is not stored, as in cc-resp-no-store`(value: String) {
    #expect(Self.policy([.control(value)]) == nil)
  }
}
