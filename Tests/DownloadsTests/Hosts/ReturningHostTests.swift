import DownloadSupport
import TestSupport
import Testing

@testable import Downloads

/// A host that dies during a run and comes back, with real connections and a manual clock.
@Suite(.timeLimit(.minutes(10))) struct ReturningHostTests {
  private static let address = "127.0.4.1"
  private let clock = ManualClock()

  private static func server(port: UInt16 = 0) throws -> LoopbackServer {
    try LoopbackServer(at: address, port: port) { _ in .http(200, [:], [7]) }
  }

  /// Starts `count` downloads, one at a time, and returns what records their ends.
  private static func start(_ count: Int, _ downloader: Downloader, port: UInt16) throws -> Recorder<Outcome> {
    let ends = Recorder<Outcome>()
    for index in 0..<count {
      let source = try SourceURL("http://\(address):\(port)/\(index)")
      downloader.download(DownloadRequest(source: source)) { ends.record($0) }
    }
    return ends
  }

  /// Returns a downloader, and the port of a host that served two of its requests before it died.
  private func died() async throws -> (Downloader, port: UInt16) {
    let configuration = Downloader.Configuration.serial.with {
      $0.clock = clock
      $0.retry.limit = 0
    }
    let downloader = Downloader(configuration, transport: CurlTransport(.direct))
    let server = try Self.server()
    let served = try await Self.start(2, downloader, port: server.port).values(count: 2)
    #expect(served.allSatisfy { $0.body == [7] })
    server.stop()
    await server.waitForClosedConnections(server.connectionCount)
    return (downloader, server.port)
  }

  @Test func `If a host is back before its probe, the downloads that waited for that succeed`() async throws {
    let (downloader, port) = try await died()
    let ends = try Self.start(12, downloader, port: port)
    #expect(await ends.values(count: 5).map(\.failure?.code) == Array(repeating: .connectFailed, count: 5))
    await clock.waitForSleepers(1)

    let server = try Self.server(port: port)
    #expect(ends.values.count == 5)
    clock.advance(by: HostBreaker.firstPause)

    #expect(await ends.values(count: 12).dropFirst(5).allSatisfy { $0.body == [7] })
    #expect(server.requests.count == 7)
  }

  @Test func `If the probe fails, the downloads fail without a request until a later probe succeeds`() async throws {
    let (downloader, port) = try await died()
    let ends = try Self.start(12, downloader, port: port)
    _ = await ends.values(count: 5)
    await clock.waitForSleepers(1)
    clock.advance(by: HostBreaker.firstPause)
    let codes = await ends.values(count: 12).map(\.failure?.code)
    #expect(codes.count { $0 == .connectFailed } == 6 && codes.count { $0 == .hostUnavailable } == 6)

    let server = try Self.server(port: port)
    let refused = try await Self.start(3, downloader, port: port).values(count: 3)
    #expect(refused.allSatisfy { $0.failure?.code == .hostUnavailable } && server.requests.isEmpty)

    clock.advance(by: .seconds(15))
    let served = try await Self.start(3, downloader, port: port).values(count: 3)
    #expect(served.allSatisfy { $0.body == [7] })
  }
}
