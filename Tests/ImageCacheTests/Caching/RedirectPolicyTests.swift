import Foundation
import HTTPTypes
import Testing

@testable import ImageCache

@Suite("The freshness of a redirected source")
struct RedirectPolicyTests {
  private static let start = Date(timeIntervalSince1970: 1_790_000_000)

  struct Hop: Sendable {
    var status: Int
    var fields: HTTPFields = [:]
    var response: HTTPResponse { HTTPResponse(status: .init(code: status), headerFields: fields) }
  }

  private func policy(_ control: String, _ hops: [Hop], mayBeStored: Bool = true) -> CachePolicy {
    .ofAny(
      response: HTTPResponse(status: .ok, headerFields: [.cacheControl: control, .eTag: "\"1\""]),
      redirects: hops.map(\.response), mayBeStored: mayBeStored, requestedAt: Self.start, respondedAt: Self.start)
  }

  private static let cases: [(hops: [Hop], lifetime: Int)] = [
    ([], 86400),
    ([Hop(status: 302)], 0), ([Hop(status: 303)], 0), ([Hop(status: 307)], 0),
    ([Hop(status: 301)], 86400), ([Hop(status: 308)], 86400),
    ([Hop(status: 302, fields: [.lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"])], 0),
    ([Hop(status: 302, fields: [.cacheControl: "max-age=60"])], 60),
    ([Hop(status: 301, fields: [.cacheControl: "max-age=60"])], 60),
    ([Hop(status: 301, fields: [.cacheControl: "max-age=0"])], 0),
    ([Hop(status: 307, fields: [.expires: "0"])], 0),
    ([Hop(status: 302, fields: [.cacheControl: "max-age=999999"])], 86400),
    ([Hop(status: 302, fields: [.cacheControl: "max-age=60", .age: "20"])], 40),
    ([Hop(status: 301), Hop(status: 302, fields: [.cacheControl: "max-age=60"]), Hop(status: 308)], 60),
    ([Hop(status: 301), Hop(status: 302), Hop(status: 302, fields: [.cacheControl: "max-age=60"])], 0),
    ([Hop(status: 301, fields: [.cacheControl: "no-cache, max-age=60"])], 0),
    ([Hop(status: 301, fields: [.cacheControl: "no-store"])], 0),
    ([Hop(status: 301, fields: [.vary: "*"])], 0),
  ]

  @Test(arguments: cases)
  func `A redirected source is as fresh as the least fresh response of its chain`(hops: [Hop], lifetime: Int) {
    let policy = policy("max-age=86400", hops)
    #expect(policy.state(at: Self.start) == (lifetime > 0 ? .fresh : .stale))

    guard lifetime > 0 else { return }
    #expect(policy.state(at: Self.start + Double(lifetime - 1)) == .fresh)
    #expect(policy.state(at: Self.start + Double(lifetime)) == .stale)
  }

  @Test func `A permanent redirect without a lifetime is fresh for seven days`() {
    let policy = policy("max-age=99999999", [Hop(status: 301)])
    #expect(policy.state(at: Self.start + 7 * 86400 - 1) == .fresh)
    #expect(policy.state(at: Self.start + 7 * 86400) == .stale)
    #expect(policy.explanation(at: Self.start).basis == .redirect)
  }

  @Test func `A source is not storable if its response has no-store or only this process may use it`() {
    #expect(!policy("max-age=60, no-store", [Hop(status: 302)]).isStorable)
    #expect(!policy("max-age=60", [], mayBeStored: false).isStorable)
    #expect(policy("max-age=60", [Hop(status: 302)]).isStorable)
  }

  @Test func `A hop with no-store must be requested before each use of the source`() {
    let policy = policy("max-age=60", [Hop(status: 301), Hop(status: 302, fields: [.cacheControl: "no-store"])])
    #expect(policy.isStorable && policy.state(at: Self.start) == .stale && policy.isTargetFresh(at: Self.start))
    #expect(!policy.mayServeStaleOnError(at: Self.start + 1))
  }

  @Test(arguments: ["must-revalidate", "no-cache"])
  func `A hop with must-revalidate or no-cache forbids serving the source stale on error`(directive: String) {
    let hop = Hop(status: 302, fields: [.cacheControl: "max-age=60, \(directive)"])
    #expect(!policy("max-age=60", [hop]).mayServeStaleOnError(at: Self.start + 61))
    #expect(policy("max-age=60", [Hop(status: 302)]).mayServeStaleOnError(at: Self.start + 61))
  }

  @Test func `The redirects that led to a 304 replace the earlier ones`() {
    func updated(by hops: [Hop]) -> CachePolicy {
      policy("max-age=86400", [Hop(status: 302)]).revalidated(
        by: HTTPResponse(status: .notModified), redirects: hops.map(\.response), requestedAt: Self.start + 10,
        respondedAt: Self.start + 10)
    }
    #expect(updated(by: []).state(at: Self.start + 86000) == .fresh)
    #expect(updated(by: [Hop(status: 302, fields: [.cacheControl: "max-age=60"])]).state(at: Self.start + 69) == .fresh)
    #expect(updated(by: [Hop(status: 302, fields: [.cacheControl: "max-age=60"])]).state(at: Self.start + 70) == .stale)
    #expect(updated(by: [Hop(status: 302, fields: [.cacheControl: "no-store"])]).state(at: Self.start + 10) == .stale)
  }

  @Test func `A redirected source has the same freshness when read from disk`() throws {
    let directory = try CachePlace()
    var source = CacheFixtures.source(1)
    source.policy = policy("max-age=86400", [Hop(status: 302, fields: [.cacheControl: "max-age=60, must-revalidate"])])
    do {
      let cache = ThumbnailCache(diskAt: directory.path)
      cache.store(source, thumbnails: [CacheFixtures.thumbnail(1)], for: CacheFixtures.key(1))
      cache.flush()
    }
    let cache = ThumbnailCache(diskAt: directory.path)
    let entry = cache.entry(for: CacheFixtures.key(1), url: CacheFixtures.url(1), specs: [CacheFixtures.spec])

    #expect(entry?.source == source)
    #expect(entry?.source.policy.state(at: Self.start + 60) == .stale)
    #expect(entry?.source.policy.mayServeStaleOnError(at: Self.start + 61) == false)
  }
}
