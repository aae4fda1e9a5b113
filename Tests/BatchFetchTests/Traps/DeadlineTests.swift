import TestSupport
import Testing

@testable import BatchFetch

/// Deadlines are libcurl's to keep, by the time of the machine. A test sets one of them short and makes the server wait
/// for ever: a slow machine makes it slower, not wrong.
@Suite("Deadlines", .timeLimit(.minutes(10))) struct DeadlineTests {
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

  @Test func `A host that is switched off`() async throws {
    let port = try SilentPort()
    let failure = try await failure(of: "http://127.0.0.1:\(port.port)/") { $0.connect = .milliseconds(200) }
    #expect(failure.code == .timeoutConnect && failure.code.isRetryable)
  }

  @Test func `A secure connection that is never greeted`() async throws {
    let gate = Gate()
    let server = try LoopbackServer(greeting: [.wait(gate)]) { _ in .http() }
    let failure = try await failure(of: "https://127.0.0.1:\(server.port)/") { $0.connect = .milliseconds(200) }
    #expect(failure.code == .timeoutConnect)
    await server.waitForConnections(1)
    gate.open()
  }

  @Test(arguments: ["", "HTTP/1.1 20"]) func `Silence after the request`(start: String) async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in ServerReply([start.step, .wait(gate)]) }
    let failure = try await failure(of: server.url("/")) { $0.firstByte = .milliseconds(200) }
    #expect(failure.code == .timeoutFirstByte && failure.code.isRetryable && failure.attempts == 1)
    gate.open()
  }

  @Test func `Silence after a redirect`() async throws {
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
  func `Silence in the middle`(start: String) async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in ServerReply([start.step, .wait(gate)]) }
    let failure = try await failure(of: server.url("/")) { $0.stallInterval = .seconds(1) }
    #expect(failure.code == .stalled && failure.code.isRetryable)
    gate.open()
  }

  @Test func `A drip that never ends`() async throws {
    let server = try LoopbackServer { _ in
      ServerReply([.send(ServerReply.head(200, ["Content-Length": "1000000"])), .drip(.milliseconds(50))])
    }
    let failure = try await failure(of: server.url("/")) { $0.stallInterval = .seconds(1) }
    #expect(failure.code == .stalled)
  }

  @Test func `A body that takes too long as a whole`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in
      ServerReply([.send(ServerReply.head(200, ["Content-Length": "9"])), .wait(gate)])
    }
    let failure = try await failure(of: server.url("/")) { $0.total = .milliseconds(500) }
    #expect(failure.code == .timeoutTotal && failure.code.isRetryable)
    gate.open()
  }

  @Test func `Redirects do not win time`() async throws {
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
  func `Of two deadlines, the earlier one is told`(firstByte: Int, total: Int, code: FailureCode) throws {
    let noHandle = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
    defer { noHandle.deallocate() }
    var request = TransferRequest(source: try SourceURL("http://host/"))
    request.limits.firstByte = .seconds(firstByte)
    request.limits.total = .seconds(total)
    let transfer = CurlTransfer(
      id: 1, handle: noHandle, request: request, receiver: Nobody(), configuration: .direct)
    #expect(transfer.overdue.code == code)
  }

  private final class Nobody: TransferReceiver {
    func receive(head: TransferHead) {}
    func receive(bytes: UnsafeRawBufferPointer) {}
    func receiveEnd(_ failure: FetchFailure?) {}
  }

  private static let hasIPv6 = (try? SilentPort(.v6)) != nil

  /// A port that is dead on IPv6 and served on IPv4. One that is free there may be taken here: then another is tried.
  private static func halfDeadPort() throws -> (SilentPort, LoopbackServer) {
    var taken: [SilentPort] = []
    for _ in 0..<100 {
      let dead = try SilentPort(.v6)
      if let server = try? LoopbackServer(port: dead.port, { _ in .http(200, [:], [7]) }) { return (dead, server) }
      taken.append(dead)
    }
    throw FetchFailure(.connectFailed, "No port is free on both.")
  }

  @Test(.enabled(if: hasIPv6, "There is no IPv6 here."))
  func `A dead IPv6 address does not hold up the living IPv4 one`() async throws {
    let (dead, server) = try Self.halfDeadPort()
    let failure = try await failure(of: "http://[::1]:\(dead.port)/") { $0.connect = .milliseconds(200) }
    #expect(failure.code == .timeoutConnect)
    let downloader = Downloader(.patient, transport: CurlTransport(.direct))
    let source = try SourceURL("http://localhost:\(server.port)/")
    #expect(try await downloader.download(.init(source: source)).body == [7])
  }
}
