import DownloadSupport
import TestSupport
import Testing

@testable import Downloads

@Suite("Proxies", .timeLimit(.minutes(10))) struct ProxyTests {
  private func settings(_ environment: [String: String]) -> ProxySettings { ProxySettings(environment: environment) }

  typealias Variables = (url: String, environment: [String: String], proxy: String?)

  static let variables: [Variables] = [
    ("http://h/", ["http_proxy": "p:1"], "p:1"), ("https://h/", ["https_proxy": "p:1"], "p:1"),
    ("https://h/", ["HTTPS_PROXY": "p:1"], "p:1"), ("http://h/", ["all_proxy": "p:1"], "p:1"),
    ("https://h/", ["ALL_PROXY": "p:1"], "p:1"), ("http://h/", ["http_proxy": "p:1", "all_proxy": "q:2"], "p:1"),
    ("http://h/", [:], nil), ("http://h/", ["https_proxy": "p:1"], nil), ("https://h/", ["http_proxy": "p:1"], nil),
    ("http://h/", ["http_proxy": ""], nil),
    // A CGI server sets HTTP_PROXY from the Proxy field of a client.
    ("http://h/", ["HTTP_PROXY": "p:1"], nil),
  ]

  @Test(arguments: variables) func `The environment determines the proxy`(variables: Variables) throws {
    #expect(settings(variables.environment).proxy(for: try SourceURL(variables.url)) == variables.proxy)
  }

  @Test(arguments: [
    ("*", "h.example", false), ("h.example", "h.example", false), ("h.example", "a.h.example", false),
    (".h.example", "h.example", false), ("h.example", "ah.example", true), ("other, H.Example", "h.example", false),
    ("a b\th.example", "h.example", false), ("h.example", "h.example.", false), ("h.example", "h.example:8080", false),
    ("127.0.0.1", "127.0.0.1", false), ("127.0.0.0/8", "127.1.2.3", false), ("10.0.0.0/8", "127.0.0.1", true),
    ("::1", "[::1]", false), ("[::1]", "[::1]:80", false), ("fd00::/8", "[fd12::1]", false), ("0.1", "127.0.0.1", true),
    ("10.0.0.0/40", "10.0.0.1", true), ("", "h", true), ("*.example", "h.example", true),
  ])
  func `NO_PROXY exempts its hosts from the proxy`(exceptions: String, host: String, isProxied: Bool) throws {
    for name in ["no_proxy", "NO_PROXY"] {
      let proxy = settings(["http_proxy": "p", name: exceptions]).proxy(for: try SourceURL("http://\(host)/"))
      #expect((proxy != nil) == isProxied)
    }
  }

  /// Returns a downloader behind `proxy`, a server that responds to all requests itself.
  private func downloader(
    _ proxy: LoopbackServer, exceptions: String = "", addresses: AddressPolicy = .noLinkLocal,
    resolve: @escaping @Sendable (String) -> HostResolution = { _ in .notFound }
  ) -> Downloader {
    var transport = CurlTransport.Configuration()
    transport.proxies = settings(["all_proxy": "http://127.0.0.1:\(proxy.port)", "no_proxy": exceptions])
    var configuration = Downloader.Configuration.patient
    configuration.retry = RetryPolicy(limit: 0)
    configuration.limits.addresses = addresses
    return Downloader(configuration, transport: CurlTransport(transport, resolve: resolve))
  }

  @Test func `A proxy gets the absolute URL, even of a host that only the proxy can resolve`() async throws {
    let proxy = try LoopbackServer { _ in .http(200, [:], [7]) }
    let source = try SourceURL("http://icons.example/a?b")

    #expect(try await downloader(proxy).download(.init(source: source)).body == [7])
    #expect(proxy.requests.map(\.target) == ["http://icons.example/a?b"])
  }

  @Test func `A redirect to a host in NO_PROXY is followed without the proxy`() async throws {
    let server = try LoopbackServer { _ in .http(200, [:], [1]) }
    let proxy = try LoopbackServer { _ in .http(302, ["Location": server.url("/b")]) }
    let source = try SourceURL("http://icons.example/a")

    let download = try await downloader(proxy, exceptions: "127.0.0.0/8").download(.init(source: source))

    #expect(download.finalURL == server.url("/b"))
    #expect(proxy.requests.count == 1 && server.requests.map(\.target) == ["/b"])
  }

  @Test(arguments: [
    "http://10.0.0.1/", "http://127.1/", "http://0x7f.1/", "http://[::1]/", "http://127.0.0.1./", "http://１２７.1/",
    "https://192.168.1.1/", "http://169.254.169.254/",
  ])
  func `The public-only policy refuses an address before the proxy gets the request`(url: String) async throws {
    let proxy = try LoopbackServer { _ in .http(200, [:], [7]) }
    let source = try SourceURL(url)

    let failure = await #expect(throws: FetchFailure.self) {
      try await downloader(proxy, addresses: .publicOnly).download(.init(source: source))
    }

    #expect(failure?.code == .blockedAddress && failure?.code.isRetryable == false)
    #expect(proxy.connectionCount == 0)
  }

  private static let metadataHosts = [
    "169.254.169.254", "[::ffff:169.254.169.254]", "[::ffff:0:169.254.169.254]", "[fe80::1]", "[2001:db8::5efe:a9fe:1]",
    // Programs read these numbers as 169.254.169.254, and libcurl leaves them unchanged before a final dot.
    "2852039166.", "0xa9fea9fe.", "0251.0376.0251.0376.", "169.254.43518.", "169.254.169.254.", "0xA9.16689662.",
  ]

  @Test(arguments: metadataHosts)
  func `Link-local addresses are refused before the proxy gets the request`(host: String) async throws {
    let proxy = try LoopbackServer { _ in .http(200, [:], [7]) }
    let source = try SourceURL("http://\(host)/latest")

    let failure = await #expect(throws: FetchFailure.self) {
      try await downloader(proxy).download(.init(source: source))
    }

    #expect(failure?.code == .blockedAddress)
    #expect(proxy.connectionCount == 0)
  }

  @Test(arguments: metadataHosts)
  func `A redirect to a link-local address is refused before the proxy gets the request`(host: String) async throws {
    let proxy = try LoopbackServer { _ in .http(302, ["Location": "http://\(host)/latest"]) }
    let source = try SourceURL("http://icons.example/a")

    let failure = await #expect(throws: FetchFailure.self) {
      try await downloader(proxy).download(.init(source: source))
    }

    #expect(failure?.code == .blockedAddress)
    #expect(proxy.requests.count == 1)
  }

  @Test func `The public-only policy checks the addresses of a name before a proxy gets the request`() async throws {
    let proxy = try LoopbackServer { _ in .http(200, [:], [7]) }
    let (inside, outside) = (try #require(IPAddress("10.1.2.3")), try #require(IPAddress("93.184.215.14")))
    let strict = downloader(proxy, addresses: .publicOnly) { host in
      switch host {
      case "inside.example": .addresses([outside, inside])
      case "outside.example": .addresses([outside])
      default: .notFound
      }
    }

    let bad = try SourceURL("http://inside.example/")
    let failure = await #expect(throws: FetchFailure.self) { try await strict.download(.init(source: bad)) }
    #expect(failure?.code == .blockedAddress && proxy.requests.isEmpty)

    for host in ["outside.example", "unknown.example"] {
      let good = try SourceURL("http://\(host)/")
      #expect(try await strict.download(.init(source: good)).body == [7])
    }
  }

  @Test func `The public-only policy sends a proxy no request while the lookup of its host fails`() async throws {
    let proxy = try LoopbackServer { _ in .http(200, [:], [7]) }
    let strict = downloader(proxy, addresses: .publicOnly) { _ in .temporary }

    let failure = await #expect(throws: FetchFailure.self) {
      try await strict.download(.init(source: try SourceURL("http://inside.example/")))
    }

    #expect(failure?.code == .dnsTemporary && proxy.requests.isEmpty)
  }

  @Test(arguments: ["metadata.google.internal", "METADATA.goog", "instance-data"])
  func `A proxy gets no request for the name of a metadata service`(host: String) async throws {
    let proxy = try LoopbackServer { _ in .http(200, [:], [7]) }

    let failure = await #expect(throws: FetchFailure.self) {
      try await downloader(proxy).download(.init(source: try SourceURL("http://\(host)/")))
    }

    #expect(failure?.code == .blockedAddress && proxy.requests.isEmpty)
  }

  @Test func `The public-only policy refuses a redirect to a private address behind a proxy`() async throws {
    let proxy = try LoopbackServer { _ in .http(302, ["Location": "http://10.0.0.1/b"]) }
    let source = try SourceURL("http://93.184.215.14/a")

    let failure = await #expect(throws: FetchFailure.self) {
      try await downloader(proxy, addresses: .publicOnly).download(.init(source: source))
    }

    #expect(failure?.code == .blockedAddress)
    #expect(proxy.requests.count == 1)
  }

  @Test func `A proxy that refuses a tunnel is a failed connection`() async throws {
    let proxy = try LoopbackServer { _ in .http(403) }
    let source = try SourceURL("https://icons.example/a")

    let failure = await #expect(throws: FetchFailure.self) {
      try await downloader(proxy).download(.init(source: source))
    }

    #expect(failure?.code == .connectFailed)
    #expect(proxy.requests.map(\.method) == ["CONNECT"])
  }
}
