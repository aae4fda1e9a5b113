import Foundation
import TestSupport
import Testing

@Suite("thumbs fetch: rates and settings of hosts", .timeLimit(.minutes(5))) struct RequestRateTests {
  /// Nearly a second: the arrival that a server records may be some time after the real one, because its thread waits
  /// for a processor.
  private static let period = Duration.milliseconds(900)
  private static let stale = ["Cache-Control": "no-cache", "ETag": "\"1\""]

  /// An image that must be revalidated, or its confirmation.
  private static func image(for request: ServerRequest) -> ServerReply {
    request.fields["if-none-match"] == nil ? .icon(fields: stale) : .http(304, stale)
  }

  @Test func `Retries, redirects and revalidations count as requests of their host`() async throws {
    let other = try LoopbackServer(at: "127.0.1.1", Self.image)
    let failures = Counter()
    let fixture = try CommandFixture { request in
      let number = Int(request.target.filter(\.isNumber)) ?? 0
      switch number % 10 {
      case 1 where request.target.hasPrefix("/row") && failures.next() % 2 == 1: return .http(503)
      case 2 where request.target.hasPrefix("/row"): return .http(302, ["Location": "/moved\(number).png"])
      case 3: return .http(302, ["Location": other.url("/\(number).png")])
      default: return Self.image(for: request)
      }
    }
    let list = try fixture.list((0..<60).map { "/row\($0).png" })

    var earlier = (0, 0)
    for status in ["ok", "ok"] {
      let result = try await fixture.fetch(list, "--rate", "20/s", "--retries", "3")
      #expect(result.ending == .exit(0))
      #expect(try fixture.report().allSatisfy { $0.status == status })

      let requests = Array(fixture.server.requests[earlier.0...])
      let others = Array(other.requests[earlier.1...])
      #expect(requests.count >= 72 && requests.peak(within: Self.period) <= 20)
      #expect(others.count == 6 && others.peak(within: Self.period) <= 20)
      earlier = (fixture.server.requests.count, other.requests.count)
    }
    #expect(try fixture.report().allSatisfy { $0.origin == "revalidated" })
  }

  @Test func `Settings in a file apply to the requests of their host only, also after a redirect`() async throws {
    let (gate, meter, plain) = (Gate(), LoadMeter(), Counter())
    let limited = try LoopbackServer(at: "127.0.1.2") { _ in
      meter.enter()
      gate.wait()
      meter.leave()
      return .icon()
    }
    let fixture = try CommandFixture { request in
      // While the first request to the limited host is held, all rows of this host get their responses.
      if plain.next() == 60 { gate.open() }
      return request.target.hasPrefix("/to") ? .http(302, ["Location": limited.url(request.target)]) : .icon()
    }
    let rules = """
      {"127.0.1.2": {"rate": "20/s", "per-host": 1, "user-agent": "robot/1", "headers": {"X-Key": "k"}}}
      """
    _ = try fixture.directory.write(rules, as: "hosts.json")
    let here = (0..<50).map { "/\($0).png" } + (0..<10).map { "/to\($0).png" }
    let list = try fixture.list(urls: (0..<20).map { limited.url("/\($0).png") } + here.map(fixture.server.url))

    let result = try await fixture.fetch(list, "--hosts", "hosts.json")

    #expect(result.ending == .exit(0))
    #expect(limited.requests.count == 30 && limited.requests.peak(within: Self.period) <= 20)
    #expect(meter.peak == 1)
    #expect(limited.requests.allSatisfy { $0.fields["user-agent"] == "robot/1" && $0.fields["x-key"] == "k" })
    #expect(fixture.server.requests.count == 60)
    #expect(fixture.server.requests.allSatisfy { $0.fields["user-agent"]?.hasPrefix("thumbs/") == true })
    #expect(fixture.server.requests.allSatisfy { $0.fields["x-key"] == nil })
  }

  @Test func `Settings of a host are not sent to the target of its redirects`() async throws {
    let target = try LoopbackServer(at: "127.0.1.3") { _ in .icon() }
    let fixture = try CommandFixture { .http(302, ["Location": target.url($0.target)]) }
    let rules = "{\"127.0.0.1\": {\"user-agent\": \"robot/1\", \"headers\": {\"X-Key\": \"k\"}}}"
    _ = try fixture.directory.write(rules, as: "hosts.json")

    let result = try await fixture.fetch(fixture.list(["/a.png", "/b.png"]), "--hosts", "hosts.json")

    #expect(result.ending == .exit(0))
    #expect(fixture.server.requests.map { $0.fields["user-agent"] } == ["robot/1", "robot/1"])
    #expect(fixture.server.requests.allSatisfy { $0.fields["x-key"] == "k" })
    #expect(target.requests.count == 2 && target.requests.allSatisfy { $0.fields["x-key"] == nil })
    #expect(target.requests.allSatisfy { $0.fields["user-agent"]?.hasPrefix("thumbs/") == true })
  }
}
