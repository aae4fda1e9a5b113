import DownloadSupport
import TestSupport
import Testing

@testable import BatchFetch
@testable import Downloads

/// Failures during the TLS handshake. NginxSecureTests covers bad certificates.
@Suite("TLS handshakes", .timeLimit(.minutes(20))) struct HandshakeTests {
  struct Server: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let steps: [ServerReply.Step]
  }

  private static func alert(level: UInt8, _ description: UInt8) -> ServerReply.Step {
    .send([21, 3, 3, 0, 2, level, description])
  }

  static let broken = [
    Server(testDescription: "closes after the client's hello", steps: [.receive, .close]),
    Server(testDescription: "resets after the client's hello", steps: [.receive, .reset]),
    Server(testDescription: "closes on arrival", steps: [.close]),
    Server(
      testDescription: "closes within a record", steps: [.receive, .send([22, 3, 3, 0, 100, 2, 0, 0]), .close]),
    Server(
      testDescription: "resets within a record", steps: [.receive, .send([22, 3, 3, 0, 100, 2, 0, 0]), .reset]),
    Server(testDescription: "sends a close_notify alert", steps: [.receive, alert(level: 1, 0), .close]),
  ]

  static let wrong = [
    Server(testDescription: "speaks SSH", steps: [.receive, "SSH-2.0-OpenSSH_9.2\r\n".step, .close]),
    Server(
      testDescription: "speaks HTTP", steps: [.receive, "HTTP/1.1 400 Bad Request\r\n\r\n".step, .close]),
    Server(testDescription: "speaks SMTP before the hello", steps: ["220 mail.test ESMTP\r\n".step, .receive, .close]),
    Server(testDescription: "sends a handshake_failure alert", steps: [.receive, alert(level: 2, 40), .close]),
    Server(testDescription: "sends an internal_error alert", steps: [.receive, alert(level: 2, 80), .close]),
  ]

  private func failure(of server: Server) async throws -> FetchFailure {
    let server = try LoopbackServer(greeting: server.steps) { _ in .http() }
    var configuration = Downloader.Configuration.prompt
    configuration.retry.limit = 2
    let downloader = Downloader(configuration, transport: CurlTransport(.direct))
    let source = try SourceURL("https://127.0.0.1:\(server.port)/")
    return try #require(
      await #expect(throws: FetchFailure.self) { try await downloader.download(.init(source: source)) })
  }

  @Test(arguments: broken)
  func `A handshake whose connection breaks is a lost connection and is retried`(server: Server) async throws {
    let failure = try await failure(of: server)

    #expect(failure.code == .connectionLost && failure.attempts == 3, "\(failure.message)")
  }

  @Test(arguments: wrong)
  func `A handshake that the server refuses or does not support fails for good`(server: Server) async throws {
    let failure = try await failure(of: server)

    #expect(failure.code == .tls && failure.attempts == 1, "\(failure.message)")
  }

  @Test(arguments: [
    ("OpenSSL SSL_connect: Connection reset by peer in connection to h:443 ", true),
    ("OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to h:443 ", true),
    ("error:0A000126:SSL routines::unexpected eof while reading", true),
    ("TLS connect error: error:0A000126:SSL routines::unexpected eof while reading", true),
    ("TLS connect error: error:00000000:lib(0)::reason(0)", true),
    ("Recv failure: Connection reset by peer", true), ("Send failure: Broken pipe", true),
    ("gnutls_handshake() failed: The TLS connection was non-properly terminated.", true),
    ("gnutls_handshake() failed: Error in the pull function.", true),
    ("OpenSSL/3.0.19: error:0A00010B:SSL routines::wrong version number", false),
    ("OpenSSL/3.0.19: error:0A000410:SSL routines::sslv3 alert handshake failure", false),
    ("TLS connect error: error:0A00018E:SSL routines::ca md too weak", false),
    ("gnutls_handshake() failed: A TLS fatal alert has been received.", false), ("SSL connect error", false),
  ])
  func `The error texts of other library versions are classified`(text: String, isBroken: Bool) {
    #expect(CurlTransfer.isBroken(handshake: text) == isBroken)
  }
}
