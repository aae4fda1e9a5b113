import Foundation
import TestSupport
import Testing

@Suite("thumbs fetch: redirects to other hosts", .timeLimit(.minutes(20))) struct RedirectedHostTests {
  @Test func `Redirects from many hosts to one do not exceed the limit of that host`() async throws {
    let (gate, signals, arrivals, meter) = (Gate(), Counter(), Counter(), LoadMeter())
    // Opens after all redirects and as many requests for images as are permitted at once.
    let signal: @Sendable () -> Void = { if signals.next() == 36 + 4 { gate.open() } }
    let images = try LoopbackServer(at: "127.0.2.1") { _ in
      meter.enter()
      if arrivals.next() <= 4 { signal() }
      gate.wait()
      meter.leave()
      return .icon()
    }
    let redirecting = try (1...12).map { number in
      try LoopbackServer(at: "127.0.1.\(number)") { request in
        signal()
        return .http(302, ["Location": images.url(request.target)])
      }
    }
    let fixture = try CommandFixture()
    let urls = redirecting.flatMap { server in (0..<3).map { server.url("/\(server.address)-\($0).png") } }

    let result = try await fixture.fetch(fixture.list(urls: urls), "--per-host", "4")

    #expect(result.ending == .exit(0))
    #expect(images.requests.count == 36 && meter.peak == 4)
    withExtendedLifetime(redirecting) {}
  }

  @Test func `Redirects without end, to a closed port and to a host that does not exist fail by their codes`()
    async throws
  {
    let name = String(repeating: "a", count: 64)
    let targets = ["/loop.png": "/loop.png", "/closed.png": "http://127.0.3.1:9/", "/none.png": "http://\(name)/"]
    let fixture = try CommandFixture { request in
      targets[request.target].map { .http(302, ["Location": $0]) } ?? .icon()
    }

    let result = try await fixture.fetch(
      fixture.list(["/loop.png", "/closed.png", "/none.png", "/good.png"]), "--max-redirects", "3")

    #expect(result.ending == .exit(75))
    let rows = try fixture.report()
    #expect(rows.map(\.code) == ["too_many_redirects", "connect_failed", "dns_not_found", nil])
    #expect(rows.map(\.retryable) == [false, true, false, nil])
    #expect(fixture.requestCounts == ["/loop.png": 4, "/closed.png": 1, "/none.png": 1, "/good.png": 1])
  }

  @Test func `The next run requests a temporary redirect again, but not a permanent one`() async throws {
    let fields = ["Cache-Control": "max-age=3600", "ETag": "\"1\""]
    let images = try LoopbackServer(at: "127.0.2.2") { _ in .icon(fields: fields) }
    let fixture = try CommandFixture { request in
      .http(request.target == "/permanent.png" ? 301 : 302, ["Location": images.url(request.target)])
    }
    let list = try fixture.list(["/permanent.png", "/temporary.png"])

    for origins in [["network", "network"], ["disk", "revalidated"]] {
      #expect(try await fixture.fetch(list).ending == .exit(0))
      #expect(try fixture.report().map(\.origin) == origins)
    }

    #expect(fixture.requestCounts == ["/permanent.png": 1, "/temporary.png": 2])
    // The target is still fresh, so the redirect alone is requested again.
    #expect(images.requests.count == 2)
  }
}
