import DownloadSupport
import TestSupport
import Testing

@testable import Downloads

/// Exceptions and predicates of address policies, over real connections. All names resolve to 127.0.0.1.
@Suite("Address policies", .timeLimit(.minutes(10))) struct AddressPolicyTransferTests {
  private static let loopback = HostResolution.addresses([IPAddress("127.0.0.1")].compactMap(\.self))

  private func downloader(
    _ addresses: AddressPolicy, proxy: LoopbackServer? = nil,
    resolve: @escaping @Sendable (String) -> HostResolution = { _ in loopback }
  ) -> Downloader {
    var transport = CurlTransport.Configuration.direct
    if let proxy {
      transport.proxies = ProxySettings(environment: ["all_proxy": "http://127.0.0.1:\(proxy.port)"])
    }
    var configuration = Downloader.Configuration.patient
    configuration.retry = RetryPolicy(limit: 0)
    configuration.limits.addresses = addresses
    return Downloader(configuration, transport: CurlTransport(transport, resolve: resolve))
  }

  private func exception(_ host: String) throws -> AddressPolicy {
    .publicOnly(except: [.host(try HostPattern(host))])
  }

  private func code(_ url: String, _ downloader: Downloader) async throws -> FailureCode? {
    await downloader.start(try DownloadRequest(url: url)).outcome.only().failure?.code
  }

  @Test func `An internal host of an exception is allowed, while other private hosts are refused`() async throws {
    let server = try LoopbackServer { _ in .http(200, [:], [1]) }
    let downloader = try downloader(exception("inside.test"))

    #expect(try await code("http://inside.test:\(server.port)/a", downloader) == nil)
    // The connection is open, but it must not be used for another host, nor may a new one be made.
    #expect(try await code("http://other.test:\(server.port)/b", downloader) == .blockedAddress)
    #expect(try await code(server.url("/c"), downloader) == .blockedAddress)
    #expect(try await code("http://inside.test:\(server.port)/d", downloader) == nil)
    #expect(server.requests.map(\.target) == ["/a", "/d"])
  }

  @Test func `A redirect from an allowed host to another private host is refused`() async throws {
    let port = Recorder<UInt16>()
    let server = try LoopbackServer { request in
      request.target == "/a" ? .http(302, ["Location": "http://other.test:\(port.values[0])/b"]) : .http(200, [:], [1])
    }
    port.record(server.port)
    let range = AddressException.addresses(try AddressRange("127.0.0.0/8"))

    let url = "http://inside.test:\(server.port)/a"
    #expect(try await code(url, downloader(exception("inside.test"))) == .blockedAddress)
    #expect(server.requests.map(\.target) == ["/a"])
    #expect(try await code(url, downloader(.publicOnly(except: [range]))) == nil)
  }

  @Test func `A host of an exception that resolves to a metadata service is refused`() async throws {
    let metadata = HostResolution.addresses([IPAddress("169.254.169.254")].compactMap(\.self))

    let failure = try await code("http://inside.test/", downloader(exception("inside.test")) { _ in metadata })

    #expect(failure == .blockedAddress)
  }

  @Test func `A predicate decides on every hop, also over an open connection`() async throws {
    let port = Recorder<UInt16>()
    let server = try LoopbackServer { request in
      request.target == "/a" ? .http(302, ["Location": "http://second.test:\(port.values[0])/b"]) : .http(200, [:], [1])
    }
    port.record(server.port)
    let asked = Recorder<AddressPredicate.Connection>()
    let downloader = downloader(
      .decided(
        by: AddressPredicate(id: "recording") { connection in
          asked.record(connection)
          return true
        }))
    let hosts = ["first.test:\(server.port)", "second.test:\(server.port)"]

    #expect(try await code("http://\(hosts[0])/a", downloader) == nil)
    #expect(asked.values.map(\.host).reduce(into: []) { if $0.last != $1 { $0.append($1) } } == hosts)
    #expect(asked.values.allSatisfy { $0.address == "127.0.0.1" && !$0.isPublic })

    let count = asked.values.count
    #expect(try await code("http://\(hosts[1])/c", downloader) == nil)
    #expect(asked.values.count > count && asked.values.last?.host == hosts[1])
  }

  @Test func `A predicate refuses a hop, with its identity in the message`() async throws {
    let port = Recorder<UInt16>()
    let server = try LoopbackServer { request in
      request.target == "/a" ? .http(302, ["Location": "http://bad.test:\(port.values[0])/b"]) : .http(200, [:], [1])
    }
    port.record(server.port)
    let downloader = downloader(
      .decided(by: AddressPredicate(id: "no bad hosts") { !$0.host.hasPrefix("bad.") }))

    let request = try DownloadRequest(url: "http://good.test:\(server.port)/a")
    let failure = await downloader.start(request).outcome.only().failure

    #expect(failure?.code == .blockedAddress && failure?.message.contains("no bad hosts") == true)
    #expect(server.requests.map(\.target) == ["/a"])
  }

  @Test func `Behind a proxy, a predicate decides before the request is sent`() async throws {
    let proxy = try LoopbackServer { _ in .http(200, [:], [7]) }
    let predicate = AddressPredicate(id: "known") { $0.host == "known.test" }
    let downloader = downloader(.decided(by: predicate), proxy: proxy) { host in
      host == "known.test" ? .notFound : Self.loopback
    }

    #expect(try await code("http://known.test/", downloader) == nil)
    #expect(try await code("http://resolved.test/", downloader) == .blockedAddress)
    let strict = self.downloader(.decided(by: predicate), proxy: proxy) { _ in .notFound }
    #expect(try await code("http://unknown.test/", strict) == .blockedAddress)
    #expect(proxy.requests.map(\.target) == ["http://known.test/"])
  }
}
