import DownloadSupport
import Glibc
import TestSupport
import Testing

@testable import Downloads

@Suite("Host names", .timeLimit(.minutes(10))) struct ResolutionTests {
  /// A name that no resolver sends to a name server, because its label has more than 63 letters (RFC 1035, section
  /// 2.3.4).
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
  func `A failed name lookup is retryable`(resolution: HostResolution) async throws {
    let lookups = Recorder<String>()

    let failure = try await failure(of: "http://\(Self.impossible):8080/") { host in
      lookups.record(host)
      return resolution
    }

    #expect(failure.code == .dnsTemporary && failure.code.isRetryable)
    #expect(lookups.values == [Self.impossible])
  }

  /// Returns a name service that resolves every name to the loopback address, except that lookups for names in
  /// `dead.test` wait for `gate` and then fail.
  private static func nameService(_ gate: Gate, _ lookups: Recorder<String> = Recorder())
    -> @Sendable (String)
    -> HostResolution
  {
    { host in
      lookups.record(host)
      guard host.hasSuffix("dead.test") else { return .addresses([IPAddress("127.0.0.1")].compactMap { $0 }) }
      gate.wait()
      return .temporary
    }
  }

  @Test func `Pending name lookups do not delay other hosts, even if they outnumber the transfers`() async throws {
    let server = try LoopbackServer { _ in .http(200, [:], [7]) }
    let gate = Gate()
    let transport = CurlTransport(.direct, resolve: Self.nameService(gate))
    let downloader = Downloader(.patient.with { $0.retry = RetryPolicy(limit: 0) }, transport: transport)
    let ends = Recorder<FailureCode?>()

    for index in 0..<20 {
      downloader.download(try DownloadRequest("a", host: "\(index).dead.test")) { ends.record($0.failure?.code) }
    }
    for index in 0..<600 {
      let source = try SourceURL("http://\(index % 3).good.test:\(server.port)/\(index)")
      downloader.download(DownloadRequest(source: source)) { ends.record($0.failure?.code) }
    }

    #expect(await ends.values(count: 600) == Array(repeating: nil, count: 600))
    gate.open()
    #expect(await ends.values(count: 620)[600...] == Array(repeating: .dnsTemporary, count: 20)[...])
  }

  @Test func `A name lookup without a result fails with the connect timeout in every attempt`() async throws {
    let (gate, lookups) = (Gate(), Recorder<String>())
    defer { gate.open() }
    var configuration = Downloader.Configuration.prompt
    configuration.retry.limit = 2
    configuration.limits.connect = .milliseconds(50)
    let downloader = Downloader(
      configuration, transport: CurlTransport(.direct, resolve: Self.nameService(gate, lookups)))
    let request = try DownloadRequest("a", host: "dead.test")

    let failure = await #expect(throws: FetchFailure.self) { try await downloader.download(request) }

    #expect(failure?.code == .dnsTemporary && failure?.attempts == 3)
    // Later attempts join the lookup that is still running.
    #expect(lookups.values == ["dead.test"])
  }

  @Test func `A redirect to a name that does not resolve fails without blocking other transfers`() async throws {
    let (gate, lookups) = (Gate(), Recorder<String>())
    let server = try LoopbackServer { request in
      request.target == "/a" ? .http(302, ["Location": "http://dead.test/"]) : .http(200, [:], [7])
    }
    var configuration = Downloader.Configuration.patient
    configuration.retry.limit = 0
    let downloader = Downloader(
      configuration, transport: CurlTransport(.direct, resolve: Self.nameService(gate, lookups)))

    let redirected = downloader.start(DownloadRequest(source: try SourceURL(server.url("/a"))))
    await eventually { lookups.values == ["dead.test"] }

    #expect(try await downloader.download(DownloadRequest(source: SourceURL(server.url("/b")))).body == [7])
    gate.open()
    #expect(await redirected.outcome.only().failure?.code == .dnsTemporary)
  }

  @Test(arguments: [(1, 2), (2, 1)])
  func `A timeout during the name lookup is a DNS failure`(firstByte: Int, total: Int) throws {
    let noHandle = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
    defer { noHandle.deallocate() }
    var request = TransferRequest(source: try SourceURL("http://dead.test/"))
    request.limits.firstByte = .seconds(firstByte)
    request.limits.total = .seconds(total)
    let transfer = CurlTransfer(
      id: 1, handle: noHandle, request: request, receiver: IgnoringReceiver(), configuration: .direct)

    guard case .resolve("dead.test") = transfer.begin() else { throw FetchFailure.cancelled }

    #expect(transfer.overdue.code == .dnsTemporary)
  }

  @Test(arguments: ["good.test", "good.test.", "under_score.test", "a-b.test"])
  func `Transfers connect to the resolved address, which is looked up only once`(host: String) async throws {
    let server = try LoopbackServer { _ in .http(200, ["Connection": "close"], [7]) }
    let (lookups, start) = (Recorder<String>(), ContinuousClock.now)
    // The clock stands still, because three downloads on a busy machine may take longer than the lifetime of addresses.
    let transport = CurlTransport(.direct, resolve: Self.nameService(.opened, lookups), now: { start })
    let downloader = Downloader(.patient.with { $0.retry = RetryPolicy(limit: 0) }, transport: transport)

    for _ in 0..<3 {
      let source = try SourceURL("http://\(host):\(server.port)/")
      #expect(try await downloader.download(DownloadRequest(source: source)).body == [7])
    }

    #expect(server.requests.count == 3 && lookups.values.count == 1)
  }

  @Test func `If one address of a host is dead, the next one is tried`() async throws {
    let server = try LoopbackServer { _ in .http(200, [:], [7]) }
    let addresses = ["::1", "127.0.0.2", "127.0.0.1"].compactMap { IPAddress($0) }
    let transport = CurlTransport(.direct) { _ in .addresses(addresses) }
    let source = try SourceURL("http://good.test:\(server.port)/")

    #expect(try await Downloader(.patient, transport: transport).download(.init(source: source)).body == [7])
  }

  @Test func `The name localhost and its subdomains need no lookup`() async throws {
    let server = try LoopbackServer { _ in .http(200, [:], [7]) }
    let lookups = Recorder<String>()
    let transport = CurlTransport(.direct) { host in
      lookups.record(host)
      return .notFound
    }

    for host in ["localhost", "LOCALHOST.", "icons.localhost"] {
      let source = try SourceURL("http://\(host):\(server.port)/")
      #expect(try await Downloader(.patient, transport: transport).download(.init(source: source)).body == [7])
    }

    #expect(lookups.values.isEmpty)
  }

  @Test func `A download that is paused and resumed during its name lookup sends one request`() async throws {
    let server = try LoopbackServer { _ in .http(200, [:], [7]) }
    let (gate, lookups) = (Gate(), Recorder<String>())
    let transport = CurlTransport(.direct) { host in
      lookups.record(host)
      gate.wait()
      return .addresses([IPAddress("127.0.0.1")].compactMap { $0 })
    }
    let downloader = Downloader(.patient, transport: transport)
    let started = downloader.start(DownloadRequest(source: try SourceURL("http://good.test:\(server.port)/")))
    _ = await lookups.values(count: 1)

    started.token.pause()
    started.token.resume()
    gate.open()

    #expect(await started.outcome.only().body == [7])
    #expect(server.requests.count == 1 && lookups.values.count == 1)
  }

  @Test func `A download that is canceled during its name lookup ends immediately and only once`() async throws {
    let (gate, lookups) = (Gate(), Recorder<String>())
    let transport = CurlTransport(.direct) { host in
      lookups.record(host)
      gate.wait()
      return .notFound
    }
    let results = Recorder<Result<Download, FetchFailure>>()
    let downloader = Downloader(.patient, transport: transport)
    let source = try SourceURL("http://\(Self.impossible)/")
    let token = downloader.download(.init(source: source)) { results.record($0) }
    _ = await lookups.values(count: 1)

    token.cancel()

    #expect(await results.values(count: 1).map(\.failure) == [.cancelled])
    gate.open()
    await eventually { downloader.runningCount == 0 && downloader.hostCount == 0 }
    #expect(results.values.count == 1)
  }

  @Test func `A name that resolves to a refused address is refused`() async throws {
    let server = try LoopbackServer { _ in .http(200, [:], [1]) }
    let failure = try await failure(of: server.url("/"), addresses: .publicOnly) { _ in .notFound }
    #expect(failure.code == .blockedAddress)

    let named = try await self.failure(
      of: "http://inside.test:\(server.port)/", addresses: .publicOnly, resolve: Self.nameService(.opened))

    #expect(named.code == .blockedAddress && !named.code.isRetryable)
    #expect(server.connectionCount == 0)
  }

  @Test func `An open connection is not reused for a request whose policy refuses its address`() async throws {
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
  func `Error statuses of getaddrinfo are classified`(status: Int32, resolution: HostResolution) {
    #expect(HostResolution(status: status) == resolution)
  }

  /// Not every system knows `localhost`.
  @Test func `The system resolves addresses, but not an impossible name`() throws {
    for text in ["127.0.0.1", "::1"] {
      #expect(try HostResolution.system(text) == .addresses([#require(IPAddress(text))]))
    }
    #expect(HostResolution.system(Self.impossible) == .notFound)
  }
}
