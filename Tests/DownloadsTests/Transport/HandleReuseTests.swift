import Downloads
import Testing

/// The handles of libcurl that transfers use one after the other.
@Suite("Handles") struct HandleReuseTests {
  private let transport = CurlTransport()
  private let receiver = EndReceiver()

  /// Starts a transfer that fails, because nothing listens at this port.
  private func start(to host: String) throws -> any Transfer {
    transport.start(TransferRequest(source: try SourceURL("http://\(host):1/")), receiver: receiver)
  }

  @Test func `A transfer does not read the IP addresses of one that was canceled before it began`() async throws {
    for round in 1...20 {
      // libcurl knows no IP addresses of these names, so each transfer gets a list of them, which is freed at its end.
      for number in 1...50 { try start(to: "\(round)-\(number).localhost").cancel() }
      for _ in 1...50 { _ = try start(to: "127.0.0.1") }

      var ends = receiver.ends.makeAsyncIterator()
      for _ in 1...100 { _ = await ends.next() }
    }
  }
}

/// Passes the ends of transfers on.
private final class EndReceiver: TransferReceiver {
  let (ends, ended) = AsyncStream.makeStream(of: Void.self)

  func receive(head: TransferHead) throws(FetchFailure) {}

  func receive(bytes: UnsafeRawBufferPointer) throws(FetchFailure) {}

  func receiveEnd(_ failure: FetchFailure?) { ended.yield() }
}
