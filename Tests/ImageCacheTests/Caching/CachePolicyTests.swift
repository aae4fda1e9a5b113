import Foundation
import HTTPTypes
import Testing

@testable import ImageCache

@Suite("CachePolicy: RFC 9111 as a private cache")
struct CachePolicyTests {
  /// Mon, 21 Sep 2026 14:13:20 GMT
  private let start = Date(timeIntervalSince1970: 1_790_000_000)
  private static let startText = "Mon, 21 Sep 2026 14:13:20 GMT"

  private func response(_ fields: HTTPFields, status: HTTPResponse.Status = .ok, delay: TimeInterval = 0)
    -> CachePolicy?
  {
    CachePolicy(
      response: HTTPResponse(status: status, headerFields: fields), requestedAt: start - delay, respondedAt: start)
  }

  private func isFresh(_ fields: HTTPFields, status: HTTPResponse.Status = .ok, after seconds: TimeInterval) -> Bool? {
    response(fields, status: status)?.state(at: start + seconds) == .fresh
  }

  // MARK: Storing

  @Test(arguments: ["no-store", "NO-STORE", "max-age=60, no-store", "private,no-store"])
  func `A response with no-store is not storable`(value: String) {
    #expect(response([.cacheControl: value]) == nil)
  }

  @Test(arguments: [206, 302, 304, 401, 429, 500, 503])
  func `A response with a status that no cache keeps is not storable`(code: Int) {
    #expect(response([.cacheControl: "max-age=60"], status: .init(code: code)) == nil)
  }

  @Test func `A response with private is storable`() {
    #expect(isFresh([.cacheControl: "private, max-age=60"], after: 59) == true)
  }

  // MARK: Freshness

  @Test func `A response is fresh before max-age and stale from that second on`() {
    #expect(isFresh([.cacheControl: "max-age=60"], after: 59) == true)
    #expect(isFresh([.cacheControl: "max-age=60"], after: 60) == false)
  }

  @Test(arguments: [
    ("max-age=0", false), ("max-age=-60", false), ("max-age=a60", false), ("max-age=", false),
    ("max-age=60.5", false), ("max-age=\"60\"", true), ("max-age =60", true), ("MAX-AGE=60", true),
    ("extension=\"max-age=0, a\", max-age=60", true), ("max-age=60, max-age=1", true), ("s-maxage=60", false),
    ("max-age=99999999999999999999", true),
  ])
  func `Malformed max-age values make a response stale, and unusual valid ones do not`(value: String, fresh: Bool) {
    #expect(isFresh([.cacheControl: value], after: 30) == fresh)
  }

  @Test func `The directive max-age overrides Expires`() {
    #expect(isFresh([.cacheControl: "max-age=60", .expires: "0"], after: 30) == true)
    #expect(isFresh([.cacheControl: "max-age=0", .expires: "Thu, 31 Dec 2099 00:00:00 GMT"], after: 30) == false)
  }

  @Test func `Expires counts from Date, so that the clock of the origin does not matter`() {
    let fields: HTTPFields = [
      .date: "Mon, 21 Sep 2026 15:13:20 GMT", .expires: "Mon, 21 Sep 2026 15:14:20 GMT",
    ]
    #expect(isFresh(fields, after: 59) == true)
    #expect(isFresh(fields, after: 60) == false)
  }

  @Test(arguments: ["0", "-1", "now", ""])
  func `An invalid Expires means already expired`(value: String) {
    #expect(isFresh([.expires: value, .lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"], after: 0) == false)
  }

  @Test func `The heuristic lifetime is a tenth of the time since Last-Modified`() {
    let fields: HTTPFields = [.date: Self.startText, .lastModified: "Mon, 21 Sep 2026 14:03:20 GMT"]
    #expect(isFresh(fields, after: 59) == true)
    #expect(isFresh(fields, after: 60) == false)
  }

  @Test func `The heuristic lifetime is at most seven days`() {
    let fields: HTTPFields = [.lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"]
    #expect(isFresh(fields, after: 7 * 86400 - 1) == true)
    #expect(isFresh(fields, after: 7 * 86400) == false)
  }

  @Test func `A response without any freshness information is stale at once`() {
    #expect(isFresh([:], after: 0) == false)
  }

  @Test(arguments: ["no-cache", "max-age=60, no-cache=\"Set-Cookie\""])
  func `A response with no-cache must be validated before every use`(value: String) {
    #expect(isFresh([.cacheControl: value], after: 0) == false)
  }

  @Test func `A response with Vary: * must be validated before every use, and one with another Vary need not`() {
    #expect(isFresh([.cacheControl: "max-age=60", .vary: "*"], after: 0) == false)
    #expect(isFresh([.cacheControl: "max-age=60", .vary: "Accept"], after: 0) == true)
  }

  @Test(arguments: [404, 410])
  func `A 404 or 410 is fresh for ten minutes, or for less if its max-age is shorter`(code: Int) {
    let status = HTTPResponse.Status(code: code)
    for fields in [[:], [.cacheControl: "max-age=86400"]] as [HTTPFields] {
      #expect(isFresh(fields, status: status, after: 599) == true)
      #expect(isFresh(fields, status: status, after: 600) == false)
    }

    #expect(isFresh([.cacheControl: "max-age=5"], status: status, after: 5) == false)
  }

  // MARK: Age

  @Test func `The Age field counts against the lifetime`() {
    #expect(isFresh([.cacheControl: "max-age=60", .age: "30"], after: 29) == true)
    #expect(isFresh([.cacheControl: "max-age=60", .age: "30"], after: 30) == false)
  }

  @Test(arguments: ["-30", "abc", "", "30.5"])
  func `An invalid Age is ignored`(value: String) {
    #expect(isFresh([.cacheControl: "max-age=60", .age: value], after: 59) == true)
  }

  @Test func `The first of several Age values counts`() {
    #expect(isFresh([.cacheControl: "max-age=60", .age: "30, 0"], after: 45) == false)
  }

  @Test func `A Date in the past adds to the age, and one in the future does not`() {
    #expect(isFresh([.cacheControl: "max-age=60", .date: "Mon, 21 Sep 2026 14:12:50 GMT"], after: 30) == false)
    #expect(isFresh([.cacheControl: "max-age=60", .date: "Mon, 21 Sep 2026 15:00:00 GMT"], after: 59) == true)
  }

  @Test func `The response time adds to the Age field`() throws {
    let policy = try #require(response([.cacheControl: "max-age=60", .age: "10"], delay: 20))
    #expect(policy.age(at: start) == 30)
    #expect(policy.state(at: start + 30) == .stale)
  }

  @Test func `A clock set back by more than five minutes makes every response stale`() {
    #expect(isFresh([.cacheControl: "max-age=60"], after: -300) == true)
    #expect(isFresh([.cacheControl: "max-age=60"], after: -301) == false)
  }

  // MARK: Serving stale

  @Test func `Without stale-if-error a stale response may be served on error for one day`() throws {
    let policy = try #require(response([.cacheControl: "max-age=60"]))
    #expect(policy.mayServeStaleOnError(at: start + 60 + 86399))
    #expect(!policy.mayServeStaleOnError(at: start + 60 + 86400))
  }

  @Test func `With stale-if-error a stale response may be served on error for that long`() throws {
    let policy = try #require(response([.cacheControl: "max-age=60, stale-if-error=10"]))
    #expect(policy.mayServeStaleOnError(at: start + 69))
    #expect(!policy.mayServeStaleOnError(at: start + 70))
  }

  @Test(arguments: ["must-revalidate", "no-cache"])
  func `The directives must-revalidate and no-cache forbid serving a stale response on error`(directive: String) throws
  {
    let policy = try #require(response([.cacheControl: "max-age=60, stale-if-error=600, \(directive)"]))
    #expect(!policy.mayServeStaleOnError(at: start + 61))
  }

  // MARK: Validation

  @Test func `Both validators are sent exactly as received`() throws {
    let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
    let policy = try #require(response([.eTag: "W/\"a\"", .lastModified: modified]))

    #expect(policy.conditionalFields == [.ifNoneMatch: "W/\"a\"", .ifModifiedSince: modified])
    #expect(try #require(response([:])).conditionalFields.isEmpty)
  }

  private func updated(_ old: HTTPFields, by new: HTTPFields, after seconds: TimeInterval = 1000) throws -> CachePolicy
  {
    let notModified = HTTPResponse(status: .notModified, headerFields: new)
    return try #require(response(old)).revalidated(
      by: notModified, requestedAt: start + seconds, respondedAt: start + seconds)
  }

  @Test func `A 304 restarts the lifetime and keeps the fields it lacks`() throws {
    let policy = try updated([.cacheControl: "max-age=60, must-revalidate", .eTag: "\"a\"", .age: "59"], by: [:])
    #expect(policy.state(at: start + 1059) == .fresh)
    #expect(policy.state(at: start + 1060) == .stale)
    #expect(!policy.mayServeStaleOnError(at: start + 1061))
    #expect(policy.conditionalFields == [.ifNoneMatch: "\"a\""])
  }

  @Test func `The fields of a 304 replace the stored ones`() throws {
    let policy = try updated(
      [.cacheControl: "max-age=60", .eTag: "W/\"a\""], by: [.cacheControl: "max-age=10", .eTag: "W/\"b\"", .age: "4"])
    #expect(policy.state(at: start + 1005) == .fresh)
    #expect(policy.state(at: start + 1006) == .stale)
    #expect(policy.conditionalFields[.ifNoneMatch] == "W/\"b\"")
  }

  @Test func `An Expires in a 304 counts from its own Date`() throws {
    let policy = try updated(
      [.date: Self.startText, .expires: "Mon, 21 Sep 2026 14:14:20 GMT"],
      by: [.date: "Mon, 21 Sep 2026 14:30:00 GMT", .expires: "Mon, 21 Sep 2026 14:31:00 GMT"])
    #expect(policy.state(at: start + 1059) == .fresh)
    #expect(policy.state(at: start + 1060) == .stale)
  }

  @Test func `After a 304 with no-store a response is stale`() throws {
    let policy = try updated([.cacheControl: "max-age=60"], by: [.cacheControl: "no-store, max-age=60"])
    #expect(policy.state(at: start + 1000) == .stale)
  }

  @Test(arguments: [
    ("\"a\"", "\"a\"", true), ("\"a\"", "\"b\"", false), ("W/\"a\"", "\"a\"", true), ("\"a\"", "W/\"b\"", true),
  ])
  func `A 304 with another strong entity tag does not confirm a response`(
    stored: String, received: String, isConfirmed: Bool
  ) throws {
    let notModified = HTTPResponse(status: .notModified, headerFields: [.eTag: received])
    #expect(try #require(response([.eTag: stored])).isConfirmed(by: notModified) == isConfirmed)
    #expect(try #require(response([.eTag: stored])).isConfirmed(by: HTTPResponse(status: .notModified)))
  }
}
