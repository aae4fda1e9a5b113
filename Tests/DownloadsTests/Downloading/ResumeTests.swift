import DownloadSupport
import HTTPTypes
import TestSupport
import Testing

@testable import Downloads

/// Downloads that continue after an interruption.
@Suite(.timeLimit(.minutes(10))) struct ResumeTests {
  private let whole: [UInt8] = Array(0..<100)
  private let tagged: HTTPFields = [.eTag: "\"1\"", .contentLength: "100"]

  /// Responds with the requested bytes, and breaks the connection of each response after the given number of bytes.
  private func transport(breakingAfter counts: [Int], fields: HTTPFields? = nil) -> ScriptedTransport {
    ScriptedTransport { [whole, tagged] request, number in
      let first = request.firstByte ?? 0
      let count = number <= counts.count ? counts[number - 1] : whole.count - first
      let part = ScriptedTransport.Step.bytes(Array(whole[first..<first + count]))
      let head: ScriptedTransport.Step =
        first == 0
        ? .head(200, fields ?? tagged)
        : .head(206, [.contentRange: "bytes \(first)-99/100", .contentLength: "\(whole.count - first)"])
      return [head] + (count > 0 ? [part] : []) + [number <= counts.count ? .fail(.connectionLost) : .end]
    }
  }

  private func ranges(_ transport: ScriptedTransport) -> [String?] {
    transport.requests.map { $0.headerFields[.range] }
  }

  @Test func `An interrupted download continues where it was`() async throws {
    let transport = transport(breakingAfter: [30])
    let download = try await Downloader(.prompt, transport: transport).download(DownloadRequest("x"))

    #expect(download.body == whole)
    #expect(download.attempts == 2)
    #expect(download.response.status == .ok)
    #expect(download.response.headerFields == [.eTag: "\"1\"", .contentLength: "100"])
    #expect(ranges(transport) == [nil, "bytes=30-"])
    #expect(transport.requests[1].headerFields[.ifRange] == "\"1\"")
  }

  @Test func `A download continues after several interruptions, including one before the first byte`() async throws {
    let transport = transport(breakingAfter: [30, 0, 20])
    let download = try await Downloader(.prompt, transport: transport).download(DownloadRequest("x"))

    #expect(download.body == whole)
    #expect(ranges(transport) == [nil, "bytes=30-", "bytes=30-", "bytes=50-"])
  }

  @Test(arguments: [FailureCode.connectionLost, .stalled, .timeoutTotal, .truncated])
  func `A download continues after every kind of temporary failure`(code: FailureCode) async throws {
    let transport = ScriptedTransport { [whole, tagged] _, number in
      number == 1
        ? [.head(200, tagged), .bytes(Array(whole[..<30])), .fail(code)]
        : [.head(206, [.contentRange: "bytes 30-99/100"]), .bytes(Array(whole[30...])), .end]
    }
    #expect(try await Downloader(.prompt, transport: transport).download(DownloadRequest("x")).body == whole)
  }

  @Test(
    arguments: [
      [.contentLength: "100"], [.eTag: "W/\"1\"", .contentLength: "100"],
      [.eTag: "\"1\"", .contentEncoding: "gzip"], [.eTag: "\"1\"", .acceptRanges: "none"],
    ] as [HTTPFields])
  func `A download without a strong validator, or of a coded body, starts over`(fields: HTTPFields) async throws {
    let transport = transport(breakingAfter: [30], fields: fields)
    #expect(try await Downloader(.prompt, transport: transport).download(DownloadRequest("x")).body == whole)
    #expect(ranges(transport) == [nil, nil])
  }

  @Test(
    arguments: [
      [.range: "bytes=0-"], [.ifNoneMatch: "\"0\""], [.ifModifiedSince: "Sun, 06 Nov 1994 08:49:37 GMT"],
    ] as [HTTPFields])
  func `A download whose request has its own conditions is not continued`(fields: HTTPFields) async throws {
    let transport = transport(breakingAfter: [30])
    let name = try #require(fields.first?.name)
    let retried = Downloader(.prompt, transport: transport).start(try DownloadRequest("x", headerFields: fields))

    _ = await retried.outcome.only()

    #expect(transport.requests.allSatisfy { $0.headerFields[.ifRange] == nil })
    #expect(transport.requests.allSatisfy { $0.headerFields[values: name] == [fields[name]] })
  }

  @Test(
    arguments: [
      (206, [.contentRange: "bytes 29-99/100"]), (206, [.contentRange: "bytes 30-98/99"]), (206, [:]),
      (206, [.contentRange: "bytes 30-99/100", .eTag: "\"2\""]), (416, [.contentRange: "bytes */100"]),
    ] as [(Int, HTTPFields)])
  func `A response that does not continue the download leads to one request for the whole body`(
    status: Int, fields: HTTPFields
  ) async throws {
    let transport = ScriptedTransport { [whole, tagged] _, number in
      switch number {
      case 1: [.head(200, tagged), .bytes(Array(whole[..<30])), .fail(.connectionLost)]
      case 2: [.head(status, fields), .bytes(Array(repeating: 0, count: 70)), .end]
      default: .response(whole, fields: tagged)
      }
    }
    let configuration = Downloader.Configuration.prompt.with { $0.retry.limit = 1 }

    let download = try await Downloader(configuration, transport: transport).download(DownloadRequest("x"))

    #expect(download.body == whole)
    #expect(ranges(transport) == [nil, "bytes=30-", nil])
  }

  @Test func `A body that has changed comes whole and replaces the old bytes`() async throws {
    let changed = [UInt8](repeating: 7, count: 50)
    let transport = ScriptedTransport { [whole, tagged] _, number in
      number == 1
        ? [.head(200, tagged), .bytes(Array(whole[..<30])), .fail(.connectionLost)]
        : .response(changed, fields: [.eTag: "\"2\"", .contentLength: "50"])
    }

    let download = try await Downloader(.prompt, transport: transport).download(DownloadRequest("x"))

    #expect(download.body == changed)
    #expect(download.response.headerFields[.eTag] == "\"2\"")
  }

  @Test func `The rest is requested again after a server error`() async throws {
    let transport = ScriptedTransport { [whole, tagged] _, number in
      switch number {
      case 1: [.head(200, tagged), .bytes(Array(whole[..<30])), .fail(.connectionLost)]
      case 2: [.head(502, [:]), .bytes([1, 2, 3]), .end]
      default: [.head(206, [.contentRange: "bytes 30-99/100"]), .bytes(Array(whole[30...])), .end]
      }
    }

    #expect(try await Downloader(.prompt, transport: transport).download(DownloadRequest("x")).body == whole)
    #expect(ranges(transport) == [nil, "bytes=30-", "bytes=30-"])
  }

  @Test func `The byte limit applies to all parts of a body together`() async throws {
    let transport = transport(breakingAfter: [30], fields: [.eTag: "\"1\""])
    let configuration = Downloader.Configuration.prompt.with { $0.limits.maxBytes = 99 }

    let error = await #expect(throws: FetchFailure.self) {
      try await Downloader(configuration, transport: transport).download(DownloadRequest("x"))
    }

    #expect(error?.code == .tooLargeBytes)
  }

  @Test func `A real connection that ends in the middle of a body costs only the rest`() async throws {
    let server = try LoopbackServer { [whole] request in
      guard let range = request.fields["range"] else {
        let head = ServerReply.head(200, ["Content-Length": "100", "ETag": "\"1\""])
        return ServerReply([.send(head + whole[..<40]), .close])
      }
      #expect(range == "bytes=40-" && request.fields["if-range"] == "\"1\"")
      return .http(206, ["Content-Range": "bytes 40-99/100", "ETag": "\"1\""], Array(whole[40...]))
    }
    let download = try await Downloader(.prompt).download(DownloadRequest(source: SourceURL(server.url("/x"))))

    #expect(download.body == whole)
    #expect(server.requests.count == 2)
  }
}
