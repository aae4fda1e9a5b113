import Foundation
import TestSupport
import Testing

@Suite("thumbs fetch: dead hosts", .timeLimit(.minutes(20))) struct DeadHostTests {
  /// A URL prefix of a host whose ports are all closed.
  private static let closed = "http://127.0.3.1:9"

  /// Returns a server that accepts connections, but sends nothing until `gate` opens.
  private static func silent(_ gate: Gate) throws -> LoopbackServer {
    try LoopbackServer(greeting: [.wait(gate), .close]) { _ in .icon() }
  }

  /// Returns `count` URLs of the server over TLS.
  private static func secureURLs(_ server: LoopbackServer, _ count: Int) -> [String] {
    (0..<count).map { "https://\(server.address):\(server.port)/\($0).png" }
  }

  @Test func `The rows of dead hosts end after few connections, and delay no other row`() async throws {
    let gate = Gate()
    defer { gate.open() }
    let (fixture, silent) = (try CommandFixture { _ in .icon() }, try Self.silent(gate))
    let dead = (0..<3000).map { "\(Self.closed)/\($0).png" } + Self.secureURLs(silent, 3000)
    let good = (0..<200).map { fixture.server.url("/good\($0).png") }

    let result = try await fixture.fetch(
      fixture.list(urls: dead + good), "--per-host", "6", "--connect-timeout", "1", "--timeout", "120")

    #expect(result.ending == .exit(75))
    let rows = try fixture.report()
    #expect(rows.count == 6200 && rows.suffix(200).allSatisfy { $0.status == "ok" })
    for (codes, code) in [(rows[..<3000], "connect_failed"), (rows[3000..<6000], "timeout_connect")] {
      #expect(codes.allSatisfy { $0.retryable == true && [code, "host_unavailable"].contains($0.code) })
      #expect((5...20).contains(codes.count { $0.code == code }))
    }
    #expect((1...20).contains(silent.connectionCount))
  }

  @Test(arguments: ["8", "60"])
  func `A host that does not respond at all is found out, however short the timeout is`(timeout: String) async throws {
    let (fixture, port) = (try CommandFixture(), try SilentPort())
    let list = try fixture.list(urls: (0..<200).map { "http://127.0.0.1:\(port.port)/\($0).png" })

    let result = try await fixture.fetch(list, "--timeout", timeout, "--connect-timeout", "4", "--per-host", "6")

    #expect(result.ending == .exit(75))
    let codes = try fixture.report().map(\.code)
    #expect(codes.count == 200 && Set(codes) == ["timeout_connect", "host_unavailable"])
    #expect((5...20).contains(codes.count { $0 == "timeout_connect" }))
  }

  @Test func `Every row of a dead host is tried if hosts must not be given up`() async throws {
    let gate = Gate()
    defer { gate.open() }
    let (fixture, silent) = (try CommandFixture(), try Self.silent(gate))
    let closed = (0..<40).map { "\(Self.closed)/\($0).png" }

    let result = try await fixture.fetch(
      fixture.list(urls: closed + Self.secureURLs(silent, 10)), "--per-host", "2", "--connect-timeout", "0.2",
      "--no-host-breaker")

    #expect(result.ending == .exit(75))
    let codes = try fixture.report().map(\.code)
    #expect(codes.prefix(40).allSatisfy { $0 == "connect_failed" })
    #expect(codes.suffix(10).allSatisfy { $0 == "timeout_connect" })
    // Over https, a row waits for the connection of another one. At most two rows are tried at once.
    #expect((3...10).contains(silent.connectionCount))
  }
}
