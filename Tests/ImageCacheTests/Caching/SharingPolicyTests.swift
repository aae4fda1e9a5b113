import Foundation
import HTTPTypes
import Testing

@testable import ImageCache

/// The rules of RFC 9111 for a cache that several users share.
@Suite("Sharing policy")
struct SharingPolicyTests {
  private static let start = CacheFixtures.start

  private static func policy(
    _ fields: HTTPFields, status: Int = 200, redirects: [HTTPFields] = [], mayBeStored: Bool = true
  ) -> CachePolicy {
    .ofAny(
      response: HTTPResponse(status: .init(code: status), headerFields: fields),
      redirects: redirects.map { HTTPResponse(status: .found, headerFields: $0) }, mayBeStored: mayBeStored,
      requestedAt: start, respondedAt: start)
  }

  private static func isFresh(_ policy: CachePolicy, after seconds: Double) -> Bool {
    policy.sharedState(at: start + seconds) == .fresh
  }

  @Test(arguments: [
    ("max-age=60", true), ("public, max-age=60", true), ("s-maxage=60", true), ("max-age=60, private", false),
    ("max-age=60, PRIVATE", false), ("max-age=60, private=\"x-field\"", false), ("no-store", false),
    ("max-age=60, no-store", false), ("max-age=0", false), ("no-cache, max-age=60", false), ("", false),
    ("max-age=60, x=\"private\"", true), ("max-age=0, s-maxage=60", true), ("max-age=60, s-maxage=0", false),
  ])
  func `A response without a validator is shared if a shared cache may serve it`(control: String, isShared: Bool) {
    #expect(Self.policy([.cacheControl: control]).isShareable == isShared)
  }

  @Test(arguments: ["max-age=0", "no-cache", ""])
  func `A response with a validator is shared for its confirmation`(control: String) {
    #expect(Self.policy([.cacheControl: control, .eTag: "\"1\""]).isShareable)
    #expect(Self.policy([.cacheControl: control, .lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"]).isShareable)
    #expect(!Self.policy([.cacheControl: control + ", private", .eTag: "\"1\""]).isShareable)
  }

  @Test func `Only a 200 is shared, and not if it varies by everything or only this process may use it`() {
    let fields: HTTPFields = [.cacheControl: "max-age=60", .eTag: "\"1\""]
    #expect(Self.policy(fields).isShareable)
    for status in [404, 410, 500, 206, 301] { #expect(!Self.policy(fields, status: status).isShareable) }
    #expect(!Self.policy(fields + [.init(name: .vary, value: "*")]).isShareable)
    #expect(!Self.policy(fields, mayBeStored: false).isShareable)
  }

  @Test(arguments: ["private, max-age=60", "no-store"])
  func `A response that a private redirect led to is not shared`(control: String) {
    let fields: HTTPFields = [.cacheControl: "max-age=60", .eTag: "\"1\""]
    #expect(Self.policy(fields, redirects: [[.cacheControl: "max-age=60"]]).isShareable)
    #expect(!Self.policy(fields, redirects: [[.cacheControl: "max-age=60"], [.cacheControl: control]]).isShareable)
  }

  @Test func `In a shared cache, s-maxage takes precedence over max-age; a private one ignores it`() {
    let longer = Self.policy([.cacheControl: "max-age=10, s-maxage=100"])
    #expect(Self.isFresh(longer, after: 99) && !Self.isFresh(longer, after: 100))
    #expect(longer.state(at: Self.start + 11) == .stale)
    let shorter = Self.policy([.cacheControl: "s-maxage=10, max-age=100", .age: "4"])
    #expect(Self.isFresh(shorter, after: 5) && !Self.isFresh(shorter, after: 6))
    #expect(shorter.state(at: Self.start + 90) == .fresh)
  }

  @Test func `Without s-maxage, a shared cache keeps a response as long as a private one`() {
    let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    for fields: HTTPFields in [[.cacheControl: "max-age=50"], [.lastModified: date], [.expires: date]] {
      let policy = Self.policy(fields)
      #expect(policy.sharedFreshUntil == policy.freshUntil)
    }
  }

  @Test func `A redirected response is fresh for the shortest time in the chain`() {
    let fields: HTTPFields = [.cacheControl: "max-age=100, s-maxage=1000"]
    #expect(!Self.isFresh(Self.policy(fields, redirects: [[:]]), after: 0))
    let plain = Self.policy(fields, redirects: [[.cacheControl: "max-age=50"], [.cacheControl: "max-age=70"]])
    #expect(Self.isFresh(plain, after: 49) && !Self.isFresh(plain, after: 50))
    let shared = Self.policy(
      fields, redirects: [[.cacheControl: "max-age=5, s-maxage=500"], [.cacheControl: "max-age=700"]])
    #expect(Self.isFresh(shared, after: 499) && !Self.isFresh(shared, after: 500))
    #expect(shared.state(at: Self.start + 6) == .stale)
  }

  @Test func `A response from a clock that is far ahead is not fresh`() {
    let policy = Self.policy([.cacheControl: "max-age=100000"])
    #expect(Self.isFresh(policy, after: -200) && !Self.isFresh(policy, after: -400))
  }

  @Test(arguments: ["max-age=1, s-maxage=1", "max-age=1, proxy-revalidate"])
  func `A stale response that needs revalidation in a shared cache does not stand in for an error`(control: String) {
    let policy = Self.policy([.cacheControl: control, .eTag: "\"1\""])
    let now = Self.start + 10
    #expect(policy.mayServeStaleOnError(at: now) && !policy.fromSharedCache.mayServeStaleOnError(at: now))
    #expect(policy.fromSharedCache.state(at: Self.start) == policy.state(at: Self.start))

    let confirmed = policy.fromSharedCache.revalidated(
      by: HTTPResponse(status: .notModified), requestedAt: now, respondedAt: now)
    #expect(confirmed.mayServeStaleOnError(at: now + 10))
    let other = Self.policy([.cacheControl: "max-age=1", .eTag: "\"1\""])
    #expect(other.fromSharedCache == other)
  }
}
