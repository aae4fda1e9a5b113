import Foundation
import TestSupport
import Testing

/// Hosts that respond with 429 Too Many Requests, together with hosts that do not.
@Suite("thumbs fetch: pauses of hosts", .timeLimit(.minutes(20))) struct HostPauseTests {
  private let refusals = Recorder<ContinuousClock.Instant>()
  /// Opens when the first request is refused.
  private let refused = Gate()

  /// Records the time and returns a 429 response.
  private func refuse(_ fields: [String: String]) -> ServerReply {
    refusals.record(.now)
    refused.open()
    return .http(429, fields)
  }

  /// Returns servers that send nothing before ``refused`` is open.
  private func others(_ count: Int) throws -> [LoopbackServer] {
    try (1...count).map { number in
      try LoopbackServer(at: "127.0.1.\(number)") { [refused] _ in .icon(number).after(refused) }
    }
  }

  /// Returns 12 URLs of the first server and `count` of each other one.
  private static func urls(_ server: LoopbackServer, _ others: [LoopbackServer], _ count: Int) -> [String] {
    let rows = others.flatMap { other in (0..<count).map { other.url("/\(other.address)-\($0).png") } }
    return (0..<12).map { server.url("/\($0).png") } + rows
  }

  @Test func `Nothing is sent to a host before the end of the pause that it has requested`() async throws {
    let (order, full, resumed) = (Counter(), Gate(), Gate())
    let fixture = try CommandFixture { [self] _ in
      switch order.next() {
      case 1:
        full.wait()
        return refuse(["Retry-After": "2"])
      case 4:
        full.open()
        return .icon().after(resumed)
      case 5:
        resumed.open()
        return .icon()
      case let number: return number < 5 ? .icon().after(resumed) : .icon()
      }
    }
    let others = try others(4)

    let result = try await fixture.fetch(
      fixture.list(urls: Self.urls(fixture.server, others, 50)), "--per-host", "4", "--retries", "1")

    #expect(result.ending == .exit(0))
    #expect(try fixture.report().count { $0.status == "ok" } == 212)

    let (requests, end) = (fixture.server.requests, try #require(refusals.values.first) + .seconds(2))
    #expect(requests.count == 13)
    #expect(requests[4].arrival >= end)
    // The other hosts had at most 16 requests before the refusal. A busy machine needs more than the pause for all.
    #expect(others.reduce(0) { $0 + $1.requests.count(before: requests[4].arrival) } > 20)
  }

  @Test func `After a 429 without a Retry-After field, the host is left alone for a while`() async throws {
    let order = Counter()
    let fixture = try CommandFixture { [self] _ in order.next() == 1 ? refuse([:]) : .icon() }

    let result = try await fixture.fetch(fixture.list(["/a", "/b", "/c"]), "--per-host", "1", "--retries", "1")

    #expect(result.ending == .exit(0))
    let requests = fixture.server.requests
    #expect(requests.count == 4)
    #expect(requests[1].arrival >= (try #require(refusals.values.first)) + .milliseconds(500))
  }

  @Test func `If a host requests a pause above the maximum wait, its rows fail at once, retryably`() async throws {
    let fixture = try CommandFixture { [self] _ in refuse(["Retry-After": "30"]) }
    let others = try others(2)

    let result = try await fixture.fetch(
      fixture.list(urls: Self.urls(fixture.server, others, 20)), "--per-host", "1", "--retries", "3", "--max-wait", "1")

    #expect(result.ending == .exit(75))
    #expect(fixture.server.requests.count == 1 && others.allSatisfy { $0.requests.count == 20 })

    let rows = try fixture.report()
    #expect(rows.count == 52)
    #expect(rows.dropFirst(12).compactMap(\.code) == [])
    #expect(rows.prefix(12).count { $0.code == "http_429" } == 1)
    #expect(rows.prefix(12).count { $0.code == "host_unavailable" } == 11)
    #expect(rows.prefix(12).allSatisfy { $0.retryable == true })
  }

  @Test func `After a redirect, the pause holds for the host that responded`() async throws {
    let order = Counter()
    let images = try LoopbackServer(at: "127.0.2.1") { [self] _ in
      order.next() == 1 ? refuse(["Retry-After": "2"]) : .icon()
    }
    let redirecting = try (1...12).map { number in
      let order = Counter()
      return try LoopbackServer(at: "127.0.1.\(number)") { [refused] request in
        let redirect = ServerReply.http(302, ["Location": images.url(request.target)])
        return order.next() == 1 ? redirect : redirect.after(refused)
      }
    }
    let fixture = try CommandFixture()
    let urls = redirecting.flatMap { server in (0..<3).map { server.url("/\(server.address)-\($0).png") } }

    let result = try await fixture.fetch(fixture.list(urls: urls), "--per-host", "1", "--retries", "1")

    #expect(result.ending == .exit(0))
    // The row whose image was refused starts again with its redirect.
    #expect(images.requests.count == 37 && redirecting.map(\.requests.count).reduce(0, +) == 37)

    let end = try #require(refusals.values.first) + .seconds(2)
    #expect(images.requests[1].arrival >= end)
    #expect(redirecting.allSatisfy { $0.requests.count(before: images.requests[1].arrival) >= 3 })
  }
}
