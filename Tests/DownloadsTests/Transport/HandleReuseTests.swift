import DownloadSupport
import Downloads
import TestSupport
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

/// Odd heads of responses, each on a handle that has received a normal response before.
@Suite("Odd heads after a normal response", .timeLimit(.minutes(10))) struct OddHeadTests {
  private static let heads = [
    "HTTP/1.1 200 OK\r\n X-A: 1\r\n", "HTTP/1.1 200 OK\r\n\tX-A: 1\r\n", "HTTP/1.1 200 OK\r\n \r\n",
    "HTTP/1.1 404 Not Found\r\n X-A: 1\r\n", "HTTP/1.1 302 Found\r\n X-A: 1\r\nLocation: /normal\r\n",
    "HTTP/1.1 103 Early Hints\r\n X-A: 1\r\n\r\nHTTP/1.1 200 OK\r\n X-B: 2\r\n",
  ]

  /// Some versions of libcurl refuse a head that begins with a folded line, others ignore the fold. None may touch
  /// memory of the response before.
  @Test(arguments: heads) func `A folded first line harms no other transfer`(head: String) async throws {
    let rounds = environmentNumber("THUMBS_ODD_HEAD_ROUNDS") ?? 20
    let server = try LoopbackServer { request in
      guard request.target == "/odd" else {
        let fields = ["Content-Type": "image/jpeg", "ETag": "\"1\"", "X-Long": String(repeating: "x", count: 99)]
        return .http(200, fields, [1, 2, 3])
      }
      return .raw(head + "Content-Length: 0\r\n\r\n")
    }
    var configuration = Downloader.Configuration.patient
    configuration.retry = RetryPolicy(limit: 0)
    let downloader = Downloader(configuration, transport: CurlTransport(.direct))

    for _ in 0..<rounds {
      for path in ["/normal", "/odd", "/normal"] {
        let request = DownloadRequest(source: try SourceURL(server.url(path)))
        if path == "/odd" {
          _ = try? await downloader.download(request)
        } else {
          #expect(try await downloader.download(request).body == [1, 2, 3])
        }
      }
    }
  }
}

/// Kept connections that the server closes when the next request arrives.
@Suite("Kept connections", .timeLimit(.minutes(10))) struct KeptConnectionTests {
  /// Makes `count` connections to a server that keeps them, and sends one more request, which never gets a response.
  private func requests(after count: Int) async throws -> (count: Int, failure: FetchFailure?) {
    let gate = Gate()
    let server = try LoopbackServer { request in
      request.target == "/closing" ? ServerReply([.close]) : .http(200, [:], [1]).after(gate)
    }
    var configuration = Downloader.Configuration.patient
    configuration.perHost = count
    configuration.retry = RetryPolicy(limit: 0)
    let downloader = Downloader(configuration, transport: CurlTransport(.direct))
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<count {
        group.addTask {
          _ = try? await downloader.download(DownloadRequest(source: SourceURL(server.url("/\(number)"))))
        }
      }
      await server.waitForRequests(count)
      gate.open()
    }
    let failure = await #expect(throws: FetchFailure.self) {
      try await downloader.download(DownloadRequest(source: SourceURL(server.url("/closing"))))
    }
    return (server.requests.count - count, failure)
  }

  @Test func `A request is repeated at most once if the server closes each connection`() async throws {
    let (count, failure) = try await requests(after: 6)

    #expect(count == 2 && failure?.code == .connectionLost && failure?.attempts == 1)
  }
}

/// Passes the ends of transfers on.
private final class EndReceiver: TransferReceiver {
  let (ends, ended) = AsyncStream.makeStream(of: Void.self)

  func receive(head: TransferHead) throws(FetchFailure) {}

  func receive(bytes: UnsafeRawBufferPointer) throws(FetchFailure) {}

  func receiveEnd(_ failure: FetchFailure?) { ended.yield() }
}
