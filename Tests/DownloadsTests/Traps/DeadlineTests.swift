import DownloadSupport
import TestSupport
import Testing

@testable import Downloads

/// libcurl enforces timeouts with the system clock. Each test sets one short timeout and a server that waits forever,
/// so a slow machine makes the test slower, but does not change its result.
@Suite("Timeouts", .timeLimit(.minutes(10))) struct DeadlineTests {
  private func failure(
    of url: String, _ change: (inout TransferLimits) -> Void
  ) async throws -> FetchFailure {
    var configuration = Downloader.Configuration.patient
    configuration.retry = RetryPolicy(limit: 0)
    change(&configuration.limits)
    let downloader = Downloader(configuration, transport: CurlTransport(.direct))
    let source = try SourceURL(url)

    let failure = await #expect(throws: FetchFailure.self) { try await downloader.download(.init(source: source)) }

    #expect(downloader.runningCount == 0)
    return try #require(failure)
  }

  @Test func `A host that is switched off fails with the connect timeout`() async throws {
    let port = try SilentPort()

    let failure = try await failure(of: "http://127.0.0.1:\(port.port)/") { $0.connect = .milliseconds(200) }

    #expect(failure.code == .timeoutConnect && failure.code.isRetryable)
  }

  @Test(arguments: ["http", "https"], [true, false])
  func `Whatever timeout ends it, a transfer without a connection fails with the connect timeout`(
    scheme: String, isTotal: Bool
  ) async throws {
    let port = try SilentPort()

    let failure = try await failure(of: "\(scheme)://127.0.0.1:\(port.port)/") { limits in
      if isTotal { limits.total = .milliseconds(200) } else { limits.firstByte = .milliseconds(200) }
    }

    #expect(failure.code == .timeoutConnect && failure.isUnreachable)
  }

  @Test func `A TLS handshake without a response fails with the connect timeout`() async throws {
    let gate = Gate()
    let server = try LoopbackServer(greeting: [.wait(gate)]) { _ in .http() }

    let failure = try await failure(of: "https://127.0.0.1:\(server.port)/") { $0.connect = .milliseconds(200) }

    #expect(failure.code == .timeoutConnect)
    await server.waitForConnections(1)
    gate.open()
  }

  @Test func `Transfers that wait for the TLS handshake of another one have the same connect timeout`() async throws {
    let gate = Gate()
    defer { gate.open() }
    let server = try LoopbackServer(greeting: [.wait(gate)]) { _ in .http() }
    var configuration = Downloader.Configuration.patient
    configuration.retry.limit = 0
    configuration.limits.connect = .milliseconds(400)
    // Less than two transfers would need if one waited for the other.
    configuration.limits.firstByte = .milliseconds(600)
    configuration.maxHostFailures = nil
    let downloader = Downloader(configuration, transport: CurlTransport(.direct))
    let ends = Recorder<FailureCode?>()

    for index in 0..<6 {
      let source = try SourceURL("https://127.0.0.1:\(server.port)/\(index)")
      downloader.download(DownloadRequest(source: source)) { ends.record($0.failure?.code) }
    }

    #expect(await ends.values(count: 6) == Array(repeating: .timeoutConnect, count: 6))
  }

  @Test func `A transfer that starts after one with more time keeps its deadline`() async throws {
    let gate = Gate()
    defer { gate.open() }
    let server = try LoopbackServer { _ in ServerReply([.wait(gate)]) }
    var configuration = Downloader.Configuration.patient
    configuration.retry.limit = 0
    let downloader = Downloader(configuration, transport: CurlTransport(.direct))
    let ends = Recorder<FailureCode?>()

    for (path, limit) in [("/patient", Duration.seconds(600)), ("/hasty", .milliseconds(200))] {
      var request = DownloadRequest(source: try SourceURL(server.url(path)))
      request.limits = TransferLimits()
      request.limits?.firstByte = limit
      request.limits?.total = .seconds(600)
      downloader.download(request) { ends.record($0.failure?.code) }
      await server.waitForConnections(1)
    }

    #expect(await ends.values(count: 1) == [.timeoutFirstByte])
  }

  @Test(arguments: ["", "HTTP/1.1 20"])
  func `Silence before the first line of a response fails with the first-byte timeout`(start: String) async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in ServerReply([start.step, .wait(gate)]) }

    let failure = try await failure(of: server.url("/")) { $0.firstByte = .milliseconds(200) }

    #expect(failure.code == .timeoutFirstByte && failure.code.isRetryable && failure.attempts == 1)
    gate.open()
  }

  @Test func `Silence after a redirect fails with the first-byte timeout`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { request in
      request.target == "/a" ? .http(302, ["Location": "/b"]) : ServerReply([.wait(gate)])
    }

    let failure = try await failure(of: server.url("/a")) { $0.firstByte = .milliseconds(300) }

    #expect(failure.code == .timeoutFirstByte)
    gate.open()
  }

  @Test(arguments: [
    "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", "HTTP/1.1 100 Continue\r\n\r\n",
  ])
  func `Silence within a response is a stall`(start: String) async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in ServerReply([start.step, .wait(gate)]) }

    let failure = try await failure(of: server.url("/")) { $0.stallInterval = .seconds(1) }

    #expect(failure.code == .stalled && failure.code.isRetryable)
    gate.open()
  }

  @Test func `A body that only trickles in is a stall`() async throws {
    let server = try LoopbackServer { _ in
      ServerReply([.send(ServerReply.head(200, ["Content-Length": "1000000"])), .drip(.milliseconds(50))])
    }

    let failure = try await failure(of: server.url("/")) { $0.stallInterval = .seconds(1) }

    #expect(failure.code == .stalled)
  }

  @Test func `A body that does not end in time fails with the total timeout`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in
      ServerReply([.send(ServerReply.head(200, ["Content-Length": "9"])), .wait(gate)])
    }

    let failure = try await failure(of: server.url("/")) { $0.total = .milliseconds(500) }

    #expect(failure.code == .timeoutTotal && failure.code.isRetryable)
    gate.open()
  }

  @Test func `Redirects do not extend the total timeout`() async throws {
    let server = try LoopbackServer { _ in
      ServerReply([.send(ServerReply.head(302, ["Location": "/"])), .drip(.milliseconds(20), count: 5), .close])
    }

    let failure = try await failure(of: server.url("/")) { limits in
      limits.total = .milliseconds(500)
      limits.maxRedirects = .max
    }

    #expect(failure.code == .timeoutTotal)
  }

  @Test(arguments: [(1, 2, FailureCode.timeoutFirstByte), (2, 1, .timeoutTotal), (1, 1, .timeoutTotal)])
  func `The earlier of two deadlines determines the failure`(firstByte: Int, total: Int, code: FailureCode) throws {
    let noHandle = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
    defer { noHandle.deallocate() }
    var request = TransferRequest(source: try SourceURL("http://host/"))
    request.limits.firstByte = .seconds(firstByte)
    request.limits.total = .seconds(total)

    let transfer = CurlTransfer(
      id: 1, handle: noHandle, request: request, receiver: IgnoringReceiver(), configuration: .direct)
    transfer.isConnected = true

    #expect(transfer.overdue.code == code)
  }

  @Test(arguments: [(1, 9, FailureCode.timeoutConnect), (9, 1, .timeoutTotal)])
  func `A target that a redirect leaves no time for is not blamed`(
    firstByte: Int, total: Int, code: FailureCode
  ) throws {
    let noHandle = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
    defer { noHandle.deallocate() }
    var request = TransferRequest(source: try SourceURL("http://host/"))
    request.elapsed = .milliseconds(1)
    request.limits.firstByte = .seconds(firstByte)
    request.limits.total = .seconds(total)

    let transfer = CurlTransfer(
      id: 1, handle: noHandle, request: request, receiver: IgnoringReceiver(), configuration: .direct)

    #expect(transfer.overdue.code == code)
  }

  private static let hasIPv6 = (try? SilentPort(.v6)) != nil

  /// Returns a port that is silent on IPv6 and served on IPv4. Tries several, because a port that is free on IPv6 may
  /// be taken on IPv4.
  private static func halfDeadPort() throws -> (SilentPort, LoopbackServer) {
    var taken: [SilentPort] = []
    for _ in 0..<100 {
      let dead = try SilentPort(.v6)
      if let server = try? LoopbackServer(port: dead.port, { _ in .http(200, [:], [7]) }) { return (dead, server) }
      taken.append(dead)
    }
    throw FetchFailure(.connectFailed, "No port is free on both address families.")
  }

  @Test(.enabled(if: hasIPv6, "This machine has no IPv6."))
  func `A dead IPv6 address does not delay a working IPv4 address`() async throws {
    let (dead, server) = try Self.halfDeadPort()
    let failure = try await failure(of: "http://[::1]:\(dead.port)/") { $0.connect = .milliseconds(200) }
    #expect(failure.code == .timeoutConnect)

    let downloader = Downloader(.patient, transport: CurlTransport(.direct))
    let source = try SourceURL("http://localhost:\(server.port)/")
    #expect(try await downloader.download(.init(source: source)).body == [7])
  }
}
