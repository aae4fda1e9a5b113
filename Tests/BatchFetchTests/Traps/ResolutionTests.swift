import Glibc
import TestSupport
import Testing

@testable import BatchFetch

@Suite("Names of hosts", .timeLimit(.minutes(10))) struct ResolutionTests {
  /// No name service is asked for a label of more than 63 letters (RFC 1035, 2.3.4).
  private static let impossible = String(repeating: "a", count: 64)

  private func failure(
    of url: String, addresses: AddressPolicy = .noLinkLocal, resolve: @escaping @Sendable (String) -> HostResolution
  ) async throws -> FetchFailure {
    var configuration = Downloader.Configuration.patient
    configuration.retry = RetryPolicy(limit: 0)
    configuration.limits.addresses = addresses
    let downloader = Downloader(configuration, transport: CurlTransport(.direct, resolve: resolve))
    let source = try SourceURL(url)
    return try #require(
      await #expect(throws: FetchFailure.self) { try await downloader.download(.init(source: source)) })
  }

  @Test func `A host that does not exist fails for good`() async throws {
    let failure = try await failure(of: "http://\(Self.impossible)/") { _ in .notFound }
    #expect(failure.code == .dnsNotFound && !failure.code.isRetryable)
    #expect(failure.message.contains(Self.impossible))
  }

  @Test(arguments: [HostResolution.temporary, .addresses([])])
  func `A name service in trouble is worth another try`(resolution: HostResolution) async throws {
    let asked = Recorder<String>()
    let failure = try await failure(of: "http://\(Self.impossible):8080/") { host in
      asked.record(host)
      return resolution
    }
    #expect(failure.code == .dnsTemporary && failure.code.isRetryable)
    #expect(asked.values == [Self.impossible])
  }

  @Test func `A cancelled question ends at once, and its answer changes nothing`() async throws {
    let (gate, asked) = (Gate(), Recorder<String>())
    let transport = CurlTransport(.direct) { host in
      asked.record(host)
      gate.wait()
      return .notFound
    }
    let results = Recorder<Result<Download, FetchFailure>>()
    let downloader = Downloader(.patient, transport: transport)
    let source = try SourceURL("http://\(Self.impossible)/")
    let token = downloader.download(.init(source: source)) { results.record($0) }
    _ = await asked.values(count: 1)
    token.cancel()
    #expect(await results.values(count: 1).map(\.failure) == [.cancelled])
    gate.open()
    await eventually { downloader.runningCount == 0 && downloader.hostCount == 0 }
    #expect(results.values.count == 1)
  }

  @Test func `A name for an address that is refused is refused`() async throws {
    let server = try LoopbackServer { _ in .http(200, [:], [1]) }
    let failure = try await failure(of: server.url("/"), addresses: .publicOnly) { _ in .notFound }
    #expect(failure.code == .blockedAddress)
    let named = try await self.failure(of: "http://localhost:\(server.port)/", addresses: .publicOnly) { _ in .notFound
    }
    #expect(named.code == .blockedAddress && !named.code.isRetryable)
    #expect(server.connectionCount == 0)
  }

  @Test func `A kept connection is not used by those who may not`() async throws {
    let server = try LoopbackServer { _ in .http(200, [:], [1]) }
    let transport = CurlTransport(.direct)
    let source = try SourceURL(server.url("/"))
    _ = try await Downloader(.patient, transport: transport).download(.init(source: source))
    var strict = Downloader.Configuration.patient
    strict.limits.addresses = .publicOnly
    let failure = await #expect(throws: FetchFailure.self) {
      try await Downloader(strict, transport: transport).download(.init(source: source))
    }
    #expect(failure?.code == .blockedAddress)
    #expect(server.requests.count == 1)
  }

  @Test(arguments: [
    (EAI_NONAME, HostResolution.notFound), (EAI_FAIL, .notFound), (EAI_AGAIN, .temporary), (EAI_MEMORY, .temporary),
    (EAI_SYSTEM, .temporary),
  ])
  func `The system's words are told apart`(status: Int32, resolution: HostResolution) {
    #expect(HostResolution(status: status) == resolution)
  }

  @Test func `The system knows its own loopback`() throws {
    guard case .addresses(let addresses) = HostResolution.system("localhost") else {
      Issue.record("localhost is not found")
      return
    }
    #expect(try addresses.contains(#require(IPAddress("127.0.0.1"))))
    #expect(HostResolution.system(Self.impossible) == .notFound)
  }
}
