import Foundation
import TestSupport
import Testing

@Suite("thumbs fetch: rates and settings of hosts", .timeLimit(.minutes(20))) struct RequestRateTests {
  /// The shortest average time between two requests at the rate of these tests, 20 per second.
  private static let interval = Duration.milliseconds(50)
  private static let stale = ["Cache-Control": "no-cache", "ETag": "\"1\""]

  /// An image that must be revalidated, or its confirmation.
  private static func image(for request: ServerRequest) -> ServerReply {
    request.fields["if-none-match"] == nil ? .icon(fields: stale) : .http(304, stale)
  }

  @Test func `Retries, redirects and revalidations count as requests of their host`() async throws {
    let attempts = (0..<15).map { _ in Counter() }
    let fixture = try CommandFixture { request in
      let number = Int(request.target.filter(\.isNumber)) ?? 0
      // Each run makes two attempts. Between two failures is another response: several in a row would pause the host.
      switch (number < 30, number.isMultiple(of: 2)) {
      case (true, true) where attempts[number / 2].next() % 2 == 1: return .http(503)
      case (true, false) where request.target.hasPrefix("/row"):
        return .http(302, ["Location": "/moved\(number).png"])
      default: return Self.image(for: request)
      }
    }
    let list = try fixture.list((0..<45).map { "/row\($0).png" })

    for (run, origin) in ["network", "revalidated"].enumerated() {
      let begin = ContinuousClock.now
      let result = try await fixture.fetch(list, "--rate", "20/s", "--retries", "1")
      #expect(result.ending == .exit(0))
      #expect(try fixture.report().allSatisfy { $0.status == "ok" && $0.origin == origin })

      let requests = Array(fixture.server.requests[(run * 75)...])
      #expect(requests.count == 75)
      // If 15 of them did not count, the last one would arrive half a second too early.
      #expect(requests.lead(over: Self.interval, since: begin) <= .zero)
    }
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
    let here = (0..<30).map { "/\($0).png" } + (0..<30).map { "/to\($0).png" }
    let list = try fixture.list(urls: (0..<10).map { limited.url("/\($0).png") } + here.map(fixture.server.url))

    let begin = ContinuousClock.now
    let result = try await fixture.fetch(list, "--hosts", "hosts.json")

    #expect(result.ending == .exit(0))
    #expect(limited.requests.count == 40)
    // If only the 10 direct ones counted, the last one would arrive a second too early.
    #expect(limited.requests.lead(over: Self.interval, since: begin) <= .zero)
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
