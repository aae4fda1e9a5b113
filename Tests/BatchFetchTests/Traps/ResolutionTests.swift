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

  /// The loopback address under any name, but for names of `dead.test`, whose question is held by `gate`.
  private static func nameService(_ gate: Gate, _ asked: Recorder<String> = Recorder())
    -> @Sendable (String)
    -> HostResolution
  {
    { host in
      asked.record(host)
      guard host.hasSuffix("dead.test") else { return .addresses([IPAddress("127.0.0.1")].compactMap { $0 }) }
      gate.wait()
      return .temporary
    }
  }

  @Test func `Names that nobody answers for hold up no others, though there are more of them than transfers`()
    async throws
  {
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

  @Test func `Of a name that nobody answers for, the connect deadline says so, in every attempt`() async throws {
    let (gate, asked) = (Gate(), Recorder<String>())
    defer { gate.open() }
    var configuration = Downloader.Configuration.prompt
    configuration.retry.limit = 2
    configuration.limits.connect = .milliseconds(50)
    let downloader = Downloader(
      configuration, transport: CurlTransport(.direct, resolve: Self.nameService(gate, asked)))
    let request = try DownloadRequest("a", host: "dead.test")
    let failure = await #expect(throws: FetchFailure.self) { try await downloader.download(request) }
    #expect(failure?.code == .dnsTemporary && failure?.attempts == 3)
    // The question that has no answer yet is not put again.
    #expect(asked.values == ["dead.test"])
  }

  @Test func `A redirect to such a name ends in the same way, and the transport goes on`() async throws {
    let (gate, asked) = (Gate(), Recorder<String>())
    let server = try LoopbackServer { request in
      request.target == "/a" ? .http(302, ["Location": "http://dead.test/"]) : .http(200, [:], [7])
    }
    var configuration = Downloader.Configuration.patient
    configuration.retry.limit = 0
    let downloader = Downloader(
      configuration, transport: CurlTransport(.direct, resolve: Self.nameService(gate, asked)))
    let redirected = downloader.start(DownloadRequest(source: try SourceURL(server.url("/a"))))
    await eventually { asked.values == ["dead.test"] }
    #expect(try await downloader.download(DownloadRequest(source: SourceURL(server.url("/b")))).body == [7])
    gate.open()
    #expect(await redirected.outcome.only().failure?.code == .dnsTemporary)
  }

  @Test(arguments: [(1, 2), (2, 1)])
  func `Whichever deadline ends a transfer while its name is looked up, the name is to blame`(
    firstByte: Int, total: Int
  )
    throws
  {
    let noHandle = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
    defer { noHandle.deallocate() }
    var request = TransferRequest(source: try SourceURL("http://dead.test/"))
    request.limits.firstByte = .seconds(firstByte)
    request.limits.total = .seconds(total)
    let transfer = CurlTransfer(id: 1, handle: noHandle, request: request, receiver: Nobody(), configuration: .direct)
    guard case .resolve("dead.test") = transfer.begin() else { throw FetchFailure.cancelled }
    #expect(transfer.overdue.code == .dnsTemporary)
  }

  private final class Nobody: TransferReceiver {
    func receive(head: TransferHead) {}
    func receive(bytes: UnsafeRawBufferPointer) {}
    func receiveEnd(_ failure: FetchFailure?) {}
  }

  @Test(arguments: ["good.test", "good.test.", "under_score.test", "a-b.test"])
  func `What the name service says is where libcurl connects, and is asked for once`(host: String) async throws {
    let server = try LoopbackServer { _ in .http(200, ["Connection": "close"], [7]) }
    let (asked, start) = (Recorder<String>(), ContinuousClock.now)
    // A clock that stands: on a busy machine, three downloads may take longer than addresses are kept.
    let transport = CurlTransport(.direct, resolve: Self.nameService(.opened, asked), now: { start })
    let downloader = Downloader(.patient.with { $0.retry = RetryPolicy(limit: 0) }, transport: transport)
    for _ in 0..<3 {
      let source = try SourceURL("http://\(host):\(server.port)/")
      #expect(try await downloader.download(DownloadRequest(source: source)).body == [7])
    }
    #expect(server.requests.count == 3 && asked.values.count == 1)
  }

  @Test func `Of several addresses, the next one is tried where one is dead`() async throws {
    let server = try LoopbackServer { _ in .http(200, [:], [7]) }
    let addresses = ["::1", "127.0.0.2", "127.0.0.1"].compactMap { IPAddress($0) }
    let transport = CurlTransport(.direct) { _ in .addresses(addresses) }
    let source = try SourceURL("http://good.test:\(server.port)/")
    #expect(try await Downloader(.patient, transport: transport).download(.init(source: source)).body == [7])
  }

  @Test func `Loopback has its names without any name service`() async throws {
    let server = try LoopbackServer { _ in .http(200, [:], [7]) }
    let asked = Recorder<String>()
    let transport = CurlTransport(.direct) { host in
      asked.record(host)
      return .notFound
    }
    for host in ["localhost", "LOCALHOST.", "icons.localhost"] {
      let source = try SourceURL("http://\(host):\(server.port)/")
      #expect(try await Downloader(.patient, transport: transport).download(.init(source: source)).body == [7])
    }
    #expect(asked.values.isEmpty)
  }

  @Test func `Paused and resumed while its name is looked up, a download comes once`() async throws {
    let server = try LoopbackServer { _ in .http(200, [:], [7]) }
    let (gate, asked) = (Gate(), Recorder<String>())
    let transport = CurlTransport(.direct) { host in
      asked.record(host)
      gate.wait()
      return .addresses([IPAddress("127.0.0.1")].compactMap { $0 })
    }
    let downloader = Downloader(.patient, transport: transport)
    let started = downloader.start(DownloadRequest(source: try SourceURL("http://good.test:\(server.port)/")))
    _ = await asked.values(count: 1)
    started.token.pause()
    started.token.resume()
    gate.open()
    #expect(await started.outcome.only().body == [7])
    #expect(server.requests.count == 1 && asked.values.count == 1)
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
    let named = try await self.failure(
      of: "http://inside.test:\(server.port)/", addresses: .publicOnly, resolve: Self.nameService(.opened))
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
