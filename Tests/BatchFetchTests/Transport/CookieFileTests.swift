import DownloadSupport
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import BatchFetch
@testable import Downloads

@Suite(.timeLimit(.minutes(20))) struct CookieFileTests {
  /// Returns a line of a file.
  private static func line(
    _ domain: String, subdomains: Bool = false, path: String = "/", secure: Bool = false, expiry: String = "0",
    _ name: String = "a", _ value: String = "1"
  ) -> String {
    [domain, subdomains ? "TRUE" : "FALSE", path, secure ? "TRUE" : "FALSE", expiry, name, value]
      .joined(separator: "\t")
  }

  @Test(arguments: [
    (line("h.example"), "http://h.example/x", true), (line("H.Example"), "http://h.example/x", true),
    (line("h.example"), "http://h.example:8080/x", true), (line("h.example"), "http://sub.h.example/x", false),
    (line("h.example", subdomains: true), "http://sub.h.example/x", true),
    (line(".h.example", subdomains: true), "http://h.example/x", true),
    (line("h.example", subdomains: true), "http://bad-h.example/x", false),
    (line("h.example", subdomains: true), "http://h.example.evil/x", false),
    (line("example", subdomains: true), "http://h.example/x", false),
    (line("0.0.1", subdomains: true), "http://127.0.0.1/x", false), (line("127.0.0.1"), "http://127.0.0.1/x", true),
    (line("h.example", path: "/x"), "http://h.example/x", true),
    (line("h.example", path: "/x"), "http://h.example/x/y?z", true),
    (line("h.example", path: "/x"), "http://h.example/xy", false),
    (line("h.example", path: "/x/"), "http://h.example/x/y", true),
    (line("h.example", path: "/x/"), "http://h.example/x", false),
    (line("h.example", secure: true), "http://h.example/x", false),
    (line("h.example", secure: true), "https://h.example/x", true),
    (line("h.example", expiry: "999"), "http://h.example/x", false),
    (line("h.example", expiry: "1001"), "http://h.example/x", true),
    ("#HttpOnly_" + line("h.example"), "http://h.example/x", true),
    ("# " + line("h.example"), "http://h.example/x", false),
  ])
  func `A cookie is sent to its domain, path and scheme until it expires`(
    line: String, url: String, isSent: Bool
  ) throws {
    let now = Date(timeIntervalSince1970: 1000)
    let file = try CookieFile("# Netscape HTTP Cookie File\r\n\r\n\(line)\r\n", now: now)

    #expect(try file.field(for: SourceURL(url), now: now) == (isSent ? "a=1" : nil))
  }

  @Test func `A cookie that expires during a run is no longer sent, and its part of the cache key stays`() throws {
    let file = try CookieFile(Self.line("h", expiry: "1000"), now: Date(timeIntervalSince1970: 999))
    let source = try SourceURL("http://h/")

    #expect(file.field(for: source, now: Date(timeIntervalSince1970: 999.5)) == "a=1")
    #expect(file.field(for: source, now: Date(timeIntervalSince1970: 1001)) == nil)
    #expect(file.digest(for: source) != nil)
  }

  @Test func `Several cookies are joined, those with the longest path first`() throws {
    let lines = [
      Self.line("h", "a", "1"), Self.line("h", path: "/x/y", "b", "2"), Self.line("h", "c", ""),
      Self.line("h", path: "/x", "d", "=\"4\""), "h\tFALSE\t/\tFALSE\t0\te",
    ]

    let file = try CookieFile(lines.joined(separator: "\n"))
    #expect(try file.field(for: SourceURL("http://h/x/y")) == "b=2; d==\"4\"; a=1; c=; e=")
  }

  @Test(arguments: [
    ("{\"name\": 1}", "seven fields"), (line("h", expiry: "soon"), "the fifth field"), (line("h/x"), "the first field"),
    (line(""), "the first field"), ("h\tmaybe\t/\tFALSE\t0\ta\t1", "the second field"),
    ("h\tTRUE\t/\t1\t0\ta\t1", "the fourth field"), (line("h", "a", "1; b=2"), "semicolons"),
    (line("h", "a", "1\u{1}"), "control characters"), (line("h", "", "1"), "the name is empty"),
    (line("h") + "\tmore", "seven fields"),
  ])
  func `A line that is not a cookie is an error with its number`(line: String, reason: String) {
    let flaw = #expect(throws: CookieFile.ParseError.self) { try CookieFile("# comment\n\n\(line)\n") }

    #expect(flaw?.line == 3 && flaw?.reason.contains(reason) == true, "\(flaw?.reason ?? "")")
  }

  @Test func `The cache key depends on the cookies for the host, whatever their path, and shows none of them`() throws {
    func variant(_ lines: String..., url: String = "https://h/a") throws -> String {
      var configuration = CurlTransport.Configuration.direct
      configuration.cookies = try CookieFile(lines.joined(separator: "\n"))
      return CurlTransport(configuration).variant(of: try SourceURL(url))
    }
    let one = try variant(Self.line("h", "a", "s3cret"))

    #expect(one.hasPrefix("cookies ") && !one.contains("s3cret"))
    #expect(try one == variant(Self.line("h", "a", "s3cret"), Self.line("other")))
    #expect(try one != variant(Self.line("h", "a", "other")))
    #expect(try one != variant(Self.line("h", path: "/b", "a", "s3cret")))
    #expect(try one != variant(Self.line("h", secure: true, "a", "s3cret")))
    #expect(try variant(Self.line("other")).isEmpty && variant(Self.line("h", expiry: "9")).isEmpty)
    #expect(try variant(Self.line("h"), url: "file:///h").isEmpty)
  }

  @Test func `Cookies are sent on redirects to the hosts they are for, and a field of the request replaces them`()
    async throws
  {
    let server = try LoopbackServer { request in
      request.target == "/far" ? .http(302, ["Location": "/near"]) : .http(200, [:], Array("x".utf8))
    }
    var configuration = CurlTransport.Configuration.direct
    let lines = [Self.line("127.0.0.1", path: "/near", "near", "1"), Self.line("127.0.0.1", path: "/far", "far", "2")]
    configuration.cookies = try CookieFile((lines + [Self.line("other.example", "other", "3")]).joined(separator: "\n"))
    let downloader = Downloader(.patient, transport: CurlTransport(configuration))

    _ = try await downloader.download(server.url("/far"))
    var request = DownloadRequest(source: try SourceURL(server.url("/near")))
    request.headerFields[.cookie] = "own=4"
    _ = try await downloader.download(request)

    #expect(server.requests.map { $0.fields["cookie"] } == ["far=2", "near=1", "own=4"])
  }

  @Test(arguments: [("127.0.0.1", true), ("localhost", false)])
  func `A response that was redirected to a host with other cookies is not kept in the cache`(
    cookieHost: String, isKept: Bool
  ) async throws {
    let fixture = try PipelineFixture { request in
      let port = request.fields["host"]?.split(separator: ":").last ?? ""
      return request.target == "/far" ? .http(302, ["Location": "http://localhost:\(port)/near"]) : .image(1)
    }
    var transport = CurlTransport.Configuration.direct
    transport.cookies = try CookieFile(Self.line(cookieHost))
    var origins: [ThumbnailSet.Origin] = []
    for _ in 1...2 {
      let pipeline = fixture.pipeline(transport: transport)
      origins.append(try await pipeline.thumbnails(for: fixture.request("/far")).origin)
      await pipeline.flush()
    }

    #expect(origins.map { $0 == .network } == [true, !isKept])
    #expect(fixture.server.requests.prefix(2).map { $0.fields["cookie"] } == (isKept ? ["a=1", nil] : [nil, "a=1"]))
  }

  @Test func `Certificate authorities are part of the cache key, by content, but not those of the system`() throws {
    let directory = try TemporaryDirectory()
    let system = try directory.write("system", as: "system.pem")
    func variant(_ text: String?) throws -> String {
      var configuration = CurlTransport.Configuration.direct
      configuration.systemAuthorities = system
      configuration.certificateAuthorities = try text.map { try directory.write($0, as: "ca.pem") }
      return CurlTransport(configuration).variant(of: try SourceURL("https://h/"))
    }

    #expect(try variant(nil).isEmpty)
    #expect(try variant("a").hasPrefix("authorities ") && variant("a") == variant("a") && variant("a") != variant("b"))
  }
}
