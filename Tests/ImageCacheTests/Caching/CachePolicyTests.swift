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

  @Test("no-store is not stored", arguments: ["no-store", "NO-STORE", "max-age=60, no-store", "private,no-store"])
  func noStore(value: String) {
    #expect(response([.cacheControl: value]) == nil)
  }

  @Test("Statuses that are no answer for good are not stored", arguments: [206, 302, 304, 401, 429, 500, 503])
  func statusesNotStored(code: Int) {
    #expect(response([.cacheControl: "max-age=60"], status: .init(code: code)) == nil)
  }

  @Test("private is no obstacle to a private cache")
  func privateIsStored() {
    #expect(isFresh([.cacheControl: "private, max-age=60"], after: 59) == true)
  }

  // MARK: Freshness

  @Test("max-age: fresh before, stale from the second on")
  func maxAge() {
    #expect(isFresh([.cacheControl: "max-age=60"], after: 59) == true)
    #expect(isFresh([.cacheControl: "max-age=60"], after: 60) == false)
  }

  @Test(
    "Odd max-age values",
    arguments: [
      ("max-age=0", false), ("max-age=-60", false), ("max-age=a60", false), ("max-age=", false),
      ("max-age=60.5", false), ("max-age=\"60\"", true), ("max-age =60", true), ("MAX-AGE=60", true),
      ("extension=\"max-age=0, a\", max-age=60", true), ("max-age=60, max-age=1", true), ("s-maxage=60", false),
      ("max-age=99999999999999999999", true),
    ])
  func oddMaxAge(value: String, fresh: Bool) {
    #expect(isFresh([.cacheControl: value], after: 30) == fresh)
  }

  @Test("max-age goes before Expires")
  func maxAgeOverridesExpires() {
    #expect(isFresh([.cacheControl: "max-age=60", .expires: "0"], after: 30) == true)
    #expect(isFresh([.cacheControl: "max-age=0", .expires: "Thu, 31 Dec 2099 00:00:00 GMT"], after: 30) == false)
  }

  @Test("Expires counts from Date, so that the origin's clock does not matter")
  func expiresFromDate() {
    let fields: HTTPFields = [
      .date: "Mon, 21 Sep 2026 15:13:20 GMT", .expires: "Mon, 21 Sep 2026 15:14:20 GMT",
    ]
    #expect(isFresh(fields, after: 59) == true)
    #expect(isFresh(fields, after: 60) == false)
  }

  @Test("An Expires that is no date is in the past", arguments: ["0", "-1", "now", ""])
  func invalidExpires(value: String) {
    #expect(isFresh([.expires: value, .lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"], after: 0) == false)
  }

  @Test("Heuristic: a tenth of the time since Last-Modified")
  func heuristicTenth() {
    let fields: HTTPFields = [.date: Self.startText, .lastModified: "Mon, 21 Sep 2026 14:03:20 GMT"]
    #expect(isFresh(fields, after: 59) == true)
    #expect(isFresh(fields, after: 60) == false)
  }

  @Test("Heuristic: at most seven days")
  func heuristicCap() {
    let fields: HTTPFields = [.lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"]
    #expect(isFresh(fields, after: 7 * 86400 - 1) == true)
    #expect(isFresh(fields, after: 7 * 86400) == false)
  }

  @Test("A response that says nothing is stale at once")
  func nothingSaid() { #expect(isFresh([:], after: 0) == false) }

  @Test("no-cache is validated on every use", arguments: ["no-cache", "max-age=60, no-cache=\"Set-Cookie\""])
  func noCache(value: String) { #expect(isFresh([.cacheControl: value], after: 0) == false) }

  @Test("Vary: * is validated on every use, any other Vary is constant here")
  func vary() {
    #expect(isFresh([.cacheControl: "max-age=60", .vary: "*"], after: 0) == false)
    #expect(isFresh([.cacheControl: "max-age=60", .vary: "Accept"], after: 0) == true)
  }

  @Test("Missing pictures are believed for ten minutes, or less if they say so", arguments: [404, 410])
  func missingPictures(code: Int) {
    let status = HTTPResponse.Status(code: code)
    for fields in [[:], [.cacheControl: "max-age=86400"]] as [HTTPFields] {
      #expect(isFresh(fields, status: status, after: 599) == true)
      #expect(isFresh(fields, status: status, after: 600) == false)
    }
    #expect(isFresh([.cacheControl: "max-age=5"], status: status, after: 5) == false)
  }

  // MARK: Age

  @Test("Age on arrival counts")
  func ageField() {
    #expect(isFresh([.cacheControl: "max-age=60", .age: "30"], after: 29) == true)
    #expect(isFresh([.cacheControl: "max-age=60", .age: "30"], after: 30) == false)
  }

  @Test("An Age that is no number is ignored", arguments: ["-30", "abc", "", "30.5"])
  func invalidAge(value: String) {
    #expect(isFresh([.cacheControl: "max-age=60", .age: value], after: 59) == true)
  }

  @Test("Of several Ages the first counts")
  func severalAges() { #expect(isFresh([.cacheControl: "max-age=60", .age: "30, 0"], after: 45) == false) }

  @Test("A Date in the past is age, one in the future is none")
  func apparentAge() {
    #expect(isFresh([.cacheControl: "max-age=60", .date: "Mon, 21 Sep 2026 14:12:50 GMT"], after: 30) == false)
    #expect(isFresh([.cacheControl: "max-age=60", .date: "Mon, 21 Sep 2026 15:00:00 GMT"], after: 59) == true)
  }

  @Test("The time the response took is age on top of the Age field")
  func responseDelay() throws {
    let policy = try #require(response([.cacheControl: "max-age=60", .age: "10"], delay: 20))
    #expect(policy.age(at: start) == 30)
    #expect(policy.state(at: start + 30) == .stale)
  }

  @Test("A clock that was moved back makes everything stale; a small step does not")
  func clockMovedBack() {
    #expect(isFresh([.cacheControl: "max-age=60"], after: -300) == true)
    #expect(isFresh([.cacheControl: "max-age=60"], after: -301) == false)
  }

  // MARK: Serving stale

  @Test("stale-if-error: one day without a word")
  func staleIfErrorDefault() throws {
    let policy = try #require(response([.cacheControl: "max-age=60"]))
    #expect(policy.mayServeStaleOnError(at: start + 60 + 86399))
    #expect(!policy.mayServeStaleOnError(at: start + 60 + 86400))
  }

  @Test("stale-if-error: as long as it says")
  func staleIfErrorDirective() throws {
    let policy = try #require(response([.cacheControl: "max-age=60, stale-if-error=10"]))
    #expect(policy.mayServeStaleOnError(at: start + 69))
    #expect(!policy.mayServeStaleOnError(at: start + 70))
  }

  @Test("must-revalidate and no-cache forbid serving stale", arguments: ["must-revalidate", "no-cache"])
  func mustRevalidate(directive: String) throws {
    let policy = try #require(response([.cacheControl: "max-age=60, stale-if-error=600, \(directive)"]))
    #expect(!policy.mayServeStaleOnError(at: start + 61))
  }

  // MARK: Validation

  @Test("Both validators are sent as they came")
  func conditionalFields() throws {
    let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
    let policy = try #require(response([.eTag: "W/\"a\"", .lastModified: modified]))
    #expect(policy.conditionalFields == [.ifNoneMatch: "W/\"a\"", .ifModifiedSince: modified])
    #expect(try #require(response([:])).conditionalFields.isEmpty)
  }

  private func renewed(_ old: HTTPFields, by new: HTTPFields, after seconds: TimeInterval = 1000) throws -> CachePolicy
  {
    let notModified = HTTPResponse(status: .notModified, headerFields: new)
    return try #require(response(old)).renewed(
      by: notModified, requestedAt: start + seconds, respondedAt: start + seconds)
  }

  @Test("304 update: freshness starts over, fields it lacks are kept")
  func update304Keeps() throws {
    let policy = try renewed([.cacheControl: "max-age=60, must-revalidate", .eTag: "\"a\"", .age: "59"], by: [:])
    #expect(policy.state(at: start + 1059) == .fresh)
    #expect(policy.state(at: start + 1060) == .stale)
    #expect(!policy.mayServeStaleOnError(at: start + 1061))
    #expect(policy.conditionalFields == [.ifNoneMatch: "\"a\""])
  }

  @Test("304 update: fields it brings replace the stored ones")
  func update304Replaces() throws {
    let policy = try renewed(
      [.cacheControl: "max-age=60", .eTag: "W/\"a\""], by: [.cacheControl: "max-age=10", .eTag: "W/\"b\"", .age: "4"])
    #expect(policy.state(at: start + 1005) == .fresh)
    #expect(policy.state(at: start + 1006) == .stale)
    #expect(policy.conditionalFields[.ifNoneMatch] == "W/\"b\"")
  }

  @Test("304 update: an Expires counts from the new Date")
  func update304Expires() throws {
    let policy = try renewed(
      [.date: Self.startText, .expires: "Mon, 21 Sep 2026 14:14:20 GMT"],
      by: [.date: "Mon, 21 Sep 2026 14:30:00 GMT", .expires: "Mon, 21 Sep 2026 14:31:00 GMT"])
    #expect(policy.state(at: start + 1059) == .fresh)
    #expect(policy.state(at: start + 1060) == .stale)
  }

  @Test("304 with no-store is never fresh afterwards")
  func update304NoStore() throws {
    let policy = try renewed([.cacheControl: "max-age=60"], by: [.cacheControl: "no-store, max-age=60"])
    #expect(policy.state(at: start + 1000) == .stale)
  }

  @Test(
    "A 304 about another strong entity tag is not about this response",
    arguments: [
      ("\"a\"", "\"a\"", true), ("\"a\"", "\"b\"", false), ("W/\"a\"", "\"a\"", true), ("\"a\"", "W/\"b\"", true),
    ])
  func confirmation(stored: String, received: String, isConfirmed: Bool) throws {
    let notModified = HTTPResponse(status: .notModified, headerFields: [.eTag: received])
    #expect(try #require(response([.eTag: stored])).isConfirmed(by: notModified) == isConfirmed)
    #expect(try #require(response([.eTag: stored])).isConfirmed(by: HTTPResponse(status: .notModified)))
  }
}
