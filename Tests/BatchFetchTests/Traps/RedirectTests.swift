import Foundation
import HTTPTypes
import ImageCache
import Synchronization
import TestSupport
import Testing

@testable import BatchFetch

@Suite("Redirects", .timeLimit(.minutes(10))) struct RedirectTests {
  private static func redirect(_ location: String, _ status: Int = 302) -> ServerReply {
    .http(status, ["Location": location], Array("moved".utf8))
  }

  @Test(arguments: [301, 302, 303, 307, 308])
  func `Every kind of redirect is followed, and the final URL is reported`(status: Int) async throws {
    let fixture = try PipelineFixture { $0.target == "/new" ? .image() : Self.redirect("/new", status) }

    let set = try await fixture.pipeline().thumbnails(for: fixture.request("/old"))

    #expect(set.finalURL == fixture.server.url("/new") && set.httpStatus == 200 && set.attempts == 1)
    #expect(fixture.server.requests.map(\.target) == ["/old", "/new"])
    #expect(fixture.server.connectionCount == 1)
  }

  @Test(arguments: [
    ("/x/y", "/x/y"), ("b", "/dir/b"), ("../b", "/b"), ("?q=2", "/dir/a?q=2"), ("/b#part", "/b"),
    ("/with space", "/with%20space"), ("/ä", "/%C3%A4"), ("/100%", "/100%"), ("/%41", "/%41"),
    ("/go?to=http://h/x y", "/go?to=http://h/x%20y"), ("/a|b", "/a|b"), ("./c/./d", "/dir/c/d"),
    ("\\x\\y", "/x/y"), ("/t\tab", "/tab"), ("/a\\..\\b", "/b"), ("%2e%2e/x", "/x"),
  ])
  func `A relative Location is resolved and encoded`(location: String, target: String) async throws {
    let fixture = try PipelineFixture { $0.target == "/dir/a?q=1" ? Self.redirect(location) : .image() }

    _ = try await fixture.pipeline().thumbnails(for: fixture.request("/dir/a?q=1"))

    #expect(fixture.server.requests.last?.target == target)
  }

  @Test func `A Location in Latin-1 is requested with its bytes`() async throws {
    let fixture = try PipelineFixture { request in
      guard request.target == "/a" else { return .image() }
      let head = Array("HTTP/1.1 302 Found\r\nLocation: /caf".utf8) + [0xE9]
      return ServerReply([.send(head + Array("\r\nContent-Length: 0\r\n\r\n".utf8))])
    }

    _ = try await fixture.pipeline().thumbnails(for: fixture.request("/a"))

    #expect(fixture.server.requests.last?.target == "/caf%E9")
  }

  @Test func `A cookie that a redirect sets is sent within its chain only`() async throws {
    let fixture = try PipelineFixture { request in
      let isKnown = request.fields["cookie"]?.contains("seen=1") == true
      return isKnown ? .image() : .http(302, ["Location": request.target, "Set-Cookie": "seen=1; Path=/; HttpOnly"])
    }
    let pipeline = fixture.pipeline()

    for path in ["/a", "/b"] { _ = try await pipeline.thumbnails(for: fixture.request(path)) }

    #expect(fixture.server.requests.map { $0.fields["cookie"] } == [nil, "seen=1", nil, "seen=1"])
  }

  @Test func `A Location without a scheme is resolved`() async throws {
    let other = try LoopbackServer { _ in .image() }
    let fixture = try PipelineFixture { _ in Self.redirect("//127.0.0.1:\(other.port)/b c") }

    let set = try await fixture.pipeline().thumbnails(for: fixture.request("/a"))

    #expect(set.finalURL == other.url("/b%20c"))
  }

  private static let odd = String(repeating: "\u{301}\u{85}:@/", count: 14_000)

  @Test(arguments: [
    ("file:///etc/hostname", "blocked_scheme"), ("ftp://127.0.0.1/a", "blocked_scheme"),
    ("data:image/png;base64,AA", "blocked_scheme"), ("gopher://127.0.0.1/", "blocked_scheme"),
    ("javascript:alert(1)", "blocked_scheme"), ("http://", "bad_url"), ("http://h:99999/", "bad_url"),
    ("localhost:80", "blocked_scheme"), ("http://169.254.169.254/latest/meta-data", "blocked_address"),
    ("http://[::ffff:a9fe:a9fe]/", "blocked_address"), ("http://2852039166/", "blocked_address"),
    ("http://[fe80::1%25lo]/", "bad_url"), ("http://2852039166./", "blocked_address"),
    ("http://[::ffff:0:169.254.169.254]/", "blocked_address"), ("http://1.2.3.4.5/", "bad_url"),
    ("/" + String(repeating: "a", count: 9000), "bad_url"), ("http://h/?" + odd, "bad_url"), (odd, "bad_url"),
    ("//" + odd, "bad_url"),
  ])
  func `A redirect to a forbidden target fails for good, without a request to the target`(
    location: String, code: String
  ) async throws {
    let fixture = try PipelineFixture { $0.target == "/good" ? .image() : Self.redirect(location) }
    let pipeline = fixture.pipeline()

    let failure = await #expect(throws: FetchFailure.self) {
      try await pipeline.thumbnails(for: fixture.request("/a"))
    }

    #expect(failure?.code.description == code && failure?.code.isRetryable == false)
    #expect(failure?.message.utf8.count ?? .max < 1000)
    #expect(try await pipeline.thumbnails(for: fixture.request("/good")).thumbnails.count == 1)
  }

  @Test(arguments: [("/a", "a loop of one"), ("/b", "a loop of two")])
  func `A redirect loop ends at the redirect limit`(target: String, name: String) async throws {
    let fixture = try PipelineFixture { Self.redirect($0.target == "/a" ? target : "/a") }

    let failure = await #expect(throws: FetchFailure.self) {
      try await fixture.pipeline().thumbnails(for: fixture.request("/a"))
    }

    #expect(failure?.code == .tooManyRedirects && failure?.code.isRetryable == false)
    #expect(fixture.server.requests.count == 21)
  }

  @Test func `Exactly as many redirects as allowed are followed`() async throws {
    let fixture = try PipelineFixture { request in
      let left = Int(request.target.dropFirst()) ?? 0
      return left == 0 ? .image() : Self.redirect("/\(left - 1)")
    }
    let pipeline = fixture.pipeline(change: { $0.downloads.limits.maxRedirects = 2 })

    #expect(try await pipeline.thumbnails(for: fixture.request("/2")).finalURL == fixture.server.url("/0"))
    let failure = await #expect(throws: FetchFailure.self) { try await pipeline.thumbnails(for: fixture.request("/3")) }
    #expect(failure?.code == .tooManyRedirects)
  }

  @Test(arguments: ["", "Location: \r\n"])
  func `A redirect without a Location fails with its status`(field: String) async throws {
    let fixture = try PipelineFixture { _ in .raw("HTTP/1.1 302 Found\r\n\(field)Content-Length: 0\r\n\r\n") }

    let failure = await #expect(throws: FetchFailure.self) {
      try await fixture.pipeline().thumbnails(for: fixture.request("/a"))
    }

    #expect(failure?.code == .http(302))
  }

  @Test func `A redirect with an endless body is followed`() async throws {
    let fixture = try PipelineFixture { request in
      guard request.target == "/a" else { return .image() }
      return ServerReply([
        .send(ServerReply.head(302, ["Location": "/b"])), .sendForever(Array(repeating: 32, count: 4096)),
      ])
    }

    let set = try await fixture.pipeline().thumbnails(for: fixture.request("/a"))

    #expect(set.finalURL == fixture.server.url("/b"))
  }

  @Test(arguments: [(301, true), (302, false), (303, false), (307, false), (308, true)])
  func `A redirected source is served from the cache only while its redirect is fresh`(
    status: Int, isFresh: Bool
  ) async throws {
    let fixture = try PipelineFixture { $0.target == "/new" ? .image() : Self.redirect("/new", status) }
    let first = fixture.pipeline()
    _ = try await first.thumbnails(for: fixture.request("/old"))
    await first.flush()

    let second = try await fixture.pipeline().thumbnails(for: fixture.request("/old"))

    #expect(second.origin == (isFresh ? .disk : .revalidated))
    #expect(second.finalURL == fixture.server.url("/new") && second.httpStatus == (isFresh ? nil : status))
    #expect(fixture.server.requests.map(\.target) == ["/old", "/new"] + (isFresh ? [] : ["/old"]))
  }

  @Test(arguments: [("max-age=3600", 0, "/new"), ("max-age=3600", 3601, "/new"), ("max-age=3600", 0, "/newer")])
  func `A fresh target of a redirect is reused, but one that is stale or has changed is downloaded`(
    control: String, age: Int, target: String
  ) async throws {
    let location = Mutex("/new")
    let fixture = try PipelineFixture { request in
      request.target == "/old"
        ? Self.redirect(location.withLock { $0 })
        : .image(request.target == "/new" ? 1 : 2, fields: ["Cache-Control": control])
    }
    let first = fixture.pipeline()
    let old = try await first.thumbnails(for: fixture.request("/old"))
    await first.flush()
    location.withLock { $0 = target }

    let later = Date.now + TimeInterval(age)
    let second = try await fixture.pipeline(now: { later }).thumbnails(for: fixture.request("/old"))

    let isReused = age == 0 && target == "/new"
    #expect(second.origin == (isReused ? .revalidated : .network))
    #expect((second.thumbnails == old.thumbnails) == (target == "/new"))
    #expect(fixture.server.requests.map(\.target) == ["/old", "/new", "/old"] + (isReused ? [] : [target]))
  }
}
