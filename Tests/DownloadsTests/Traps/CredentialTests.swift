import DownloadSupport
import HTTPTypes
import TestSupport
import Testing

@testable import Downloads

@Suite("Credentials", .timeLimit(.minutes(10))) struct CredentialTests {
  /// `user:word` and `net:rc` as Basic credentials (RFC 7617).
  private static let (ofURL, ofFile) = ("Basic dXNlcjp3b3Jk", "Basic bmV0OnJj")
  private let directory = try? TemporaryDirectory()

  private func downloader(netrc: String? = nil) throws -> Downloader {
    var transport = CurlTransport.Configuration.direct
    transport.netrc = try netrc.map { try #require(directory).write($0, as: "netrc") }
    return Downloader(.patient, transport: CurlTransport(transport))
  }

  /// Two servers: `home` redirects `/a` to `/b` on `other`, which redirects back to `/c` on `home`.
  private func servers() throws -> (home: LoopbackServer, other: LoopbackServer) {
    let back = Recorder<String>()
    let other = try LoopbackServer { _ in .http(302, ["Location": back.values[0]]) }
    let home = try LoopbackServer { request in
      request.target == "/a" ? .http(302, ["Location": other.url("/b")]) : .http(200, [:], [1])
    }
    back.record(home.url("/c"))
    return (home, other)
  }

  @Test func `Credentials of a URL are sent only to its host`() async throws {
    let (home, other) = try servers()
    let source = try SourceURL("http://user:word@127.0.0.1:\(home.port)/a")

    _ = try await downloader().download(.init(source: source))

    #expect(home.requests.map { $0.fields["authorization"] } == [Self.ofURL, Self.ofURL])
    #expect(other.requests.map { $0.fields["authorization"] } == [nil])
  }

  @Test func `Header fields that the caller adds are sent only to the host of the URL`() async throws {
    let (home, other) = try servers()
    var request = DownloadRequest(source: try SourceURL(home.url("/a")))
    request.headerFields = [.authorization: "Bearer x", .cookie: "a=b", .init("X-Api-Key")!: "secret"]

    _ = try await downloader().download(request)

    for name in ["authorization", "cookie", "x-api-key"] {
      #expect(home.requests.allSatisfy { $0.fields[name] != nil })
      #expect(other.requests.allSatisfy { $0.fields[name] == nil })
    }
    #expect(other.requests.allSatisfy { $0.fields["user-agent"] != nil && $0.fields["accept"] != nil })
  }

  @Test(arguments: ["machine 127.0.0.1 login net password rc\n", "default login net password rc\n"])
  func `Credentials of a netrc file are sent only to the host of the URL`(netrc: String) async throws {
    let (home, other) = try servers()

    _ = try await downloader(netrc: netrc).download(.init(source: SourceURL(home.url("/a"))))

    #expect(home.requests.map { $0.fields["authorization"] } == [Self.ofFile, Self.ofFile])
    #expect(other.requests.map { $0.fields["authorization"] } == [nil])
  }

  @Test func `Credentials of a URL take precedence over a netrc file`() async throws {
    let server = try LoopbackServer { _ in .http(200, [:], [1]) }
    let source = try SourceURL("http://user:word@127.0.0.1:\(server.port)/")

    _ = try await downloader(netrc: "default login net password rc\n").download(.init(source: source))

    #expect(server.requests.first?.fields["authorization"] == Self.ofURL)
  }

  @Test(arguments: ["", "machine elsewhere.example login net password rc\n"])
  func `A netrc file without an entry for the host adds no credentials`(netrc: String) async throws {
    let server = try LoopbackServer { _ in .http(200, [:], [1]) }

    _ = try await downloader(netrc: netrc).download(.init(source: SourceURL(server.url("/"))))

    #expect(server.requests.map { $0.fields["authorization"] } == [nil])
  }

  @Test func `A missing netrc file is ignored`() async throws {
    let server = try LoopbackServer { _ in .http(200, [:], [1]) }
    var transport = CurlTransport.Configuration.direct
    transport.netrc = "/nonexistent/netrc"
    let downloader = Downloader(.patient, transport: CurlTransport(transport))

    #expect(try await downloader.download(.init(source: SourceURL(server.url("/")))).body == [1])
  }

  @Test func `Credentials of one download are not sent with the next one on its connection`() async throws {
    let server = try LoopbackServer { _ in .http(200, [:], [1]) }
    let downloader = try downloader()

    for prefix in ["user:word@", ""] {
      let source = try SourceURL("http://\(prefix)127.0.0.1:\(server.port)/")
      _ = try await downloader.download(.init(source: source))
    }

    #expect(server.requests.map { $0.fields["authorization"] } == [Self.ofURL, nil])
  }

  @Test func `Credentials in the Location of a redirect are sent to its target`() async throws {
    let other = try LoopbackServer { _ in .http(200, [:], [1]) }
    let home = try LoopbackServer { _ in .http(302, ["Location": "http://user:word@127.0.0.1:\(other.port)/b"]) }

    let download = try await downloader().download(.init(source: SourceURL(home.url("/a"))))

    #expect(other.requests.map { $0.fields["authorization"] } == [Self.ofURL])
    #expect(download.finalURL == other.url("/b"))
  }
}
