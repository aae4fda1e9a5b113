import DownloadSupport
import HTTPTypes
import ImageCache
import Synchronization
import TestSupport
import Testing

@testable import BatchFetch

@Suite("Unusual but valid responses", .timeLimit(.minutes(10))) struct UnusualResponseTests {
  private static let length = "Content-Length: \(Trap.image.count)\r\n"
  private static let chunks = BodyCoding.chunked(Trap.image, size: 1000)

  static let responses: [Trap] = [
    .ok("no Content-Type", "HTTP/1.1 200 OK\r\n\(length)\r\n"),
    .ok("octet-stream", "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n\(length)\r\n"),
    .ok("text/plain", "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\(length)\r\n"),
    .ok("text/html", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\(length)\r\n"),
    .ok("a JPEG with the type image/png", "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\(length)\r\n"),
    .ok("an invalid type", "HTTP/1.1 200 OK\r\nContent-Type: ;;;\r\n\(length)\r\n"),
    .ok("no length and the end of the connection", "HTTP/1.1 200 OK\r\n\r\n"),
    .ok("more bytes than declared", "HTTP/1.1 200 OK\r\n\(length)\r\n", Trap.image + [1, 2, 3]),
    .ok(
      "an unrequested 206 with the whole body",
      "HTTP/1.1 206 Part\r\nContent-Range: bytes 0-\(Trap.image.count - 1)/\(Trap.image.count)\r\n\(length)\r\n"),
    .ok("a 201", "HTTP/1.1 201 Created\r\nLocation: /elsewhere\r\n\(length)\r\n"),
    .ok("a 202", "HTTP/1.1 202 Accepted\r\n\(length)\r\n"),
    .ok("a 299", "HTTP/1.1 299 Something\r\n\(length)\r\n"),
    .ok("a 203", "HTTP/1.1 203 Non-Authoritative Information\r\n\(length)\r\n"),
    .ok("HTTP/1.0", "HTTP/1.0 200 OK\r\n\(length)\r\n"),
    .ok("no reason phrase", "HTTP/1.1 200\r\n\(length)\r\n"),
    .ok("bare line feeds", "HTTP/1.1 200 OK\nContent-Length: \(Trap.image.count)\n\n"),
    .ok("the same length twice", "HTTP/1.1 200 OK\r\n\(length)\(length)\r\n"),
    .ok("names in any case", "HTTP/1.1 200 OK\r\ncOnTeNt-LeNgTh: \(Trap.image.count)\r\n\r\n"),
    .ok("a field folded over two lines", "HTTP/1.1 200 OK\r\nX-Long: one\r\n two\r\n\(length)\r\n"),
    .ok("fields without a name", "HTTP/1.1 200 OK\r\n: nameless\r\nsp ace: x\r\n\(length)\r\n"),
    .ok("a line without a colon", "HTTP/1.1 200 OK\r\nnonsense\r\n\(length)\r\n"),
    .ok("a line without a colon at the end of a head", "HTTP/1.1 200 OK\r\n\(length)<!-- generated -->\r\n\r\n"),
    .ok("a line without a colon, and no length", "HTTP/1.0 200 OK\nnonsense\n\n"),
    .ok("a 100 before the 200", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\(length)\r\n"),
    .ok("a 103 before the 200", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n\(length)\r\n"),
    .ok("chunks with extensions", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", chunks),
    .ok(
      "chunks of one byte", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
      BodyCoding.chunked(Trap.image, size: 1)),
    .ok(
      "chunks with trailers that look like a head", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
      BodyCoding.chunked(Trap.image, size: 500, rest: "0\r\nLocation: /x\r\nContent-Length: 1\r\n\r\n")),
    .ok(
      "chunks and a wrong length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
      chunks),
    .ok("unrequested gzip", coded("gzip", BodyCoding.gzip), BodyCoding.gzip(Trap.image)),
    .ok("x-gzip", coded("x-gzip", BodyCoding.gzip), BodyCoding.gzip(Trap.image)),
    .ok("deflate", coded("deflate", BodyCoding.zlib), BodyCoding.zlib(Trap.image)),
    .ok("deflate without the zlib wrapper", coded("deflate", BodyCoding.rawDeflate), BodyCoding.rawDeflate(Trap.image)),
    .ok("br", coded("br", BodyCoding.brotli), BodyCoding.brotli(Trap.image)),
    .ok("zstd", coded("zstd", BodyCoding.zstd), BodyCoding.zstd(Trap.image)),
    .ok("an unknown coding", coded("rot13") { $0 }),
    .ok("the coding of an upload", coded("aws-chunked") { $0 }),
    .ok("a character set as coding", coded("UTF-8") { $0 }),
    .ok("binary as coding", coded("binary") { $0 }),
    .ok("identity and an unknown coding", coded("identity, zip") { $0 }),
    .ok("identity", coded("identity") { $0 }),
    .ok("an empty coding", coded("") { $0 }),
    .ok(
      "gzip twice", coded("gzip, gzip") { BodyCoding.gzip(BodyCoding.gzip($0)) },
      BodyCoding.gzip(BodyCoding.gzip(Trap.image))),
    .ok(
      "gzip in chunks", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n",
      BodyCoding.chunked(BodyCoding.gzip(Trap.image), size: 700)),
    Trap(
      name: "single bytes",
      reply: ServerReply(
        Array("HTTP/1.1 200 OK\r\n\(length)\r\n".utf8).map { .send([$0]) } + Trap.image.map { .send([$0]) })),
    Trap(
      name: "a half-closed connection",
      reply: ServerReply(["HTTP/1.1 200 OK\r\n\r\n".step, .send(Trap.image), .halfClose])),
  ]

  private static func coded(_ name: String, _ code: ([UInt8]) -> [UInt8]) -> String {
    "HTTP/1.1 200 OK\r\nContent-Encoding: \(name)\r\nContent-Length: \(code(Trap.image).count)\r\n\r\n"
  }

  @Test(arguments: responses) func `An unusual response becomes a thumbnail`(response: Trap) async throws {
    let fixture = try PipelineFixture { _ in response.reply }

    let set = try await fixture.pipeline().thumbnails(for: fixture.request("/a"))

    #expect(set.source == SourceImage(size: PixelSize(width: 200, height: 150), format: .jpeg))
    #expect(set.sourceBytes == Trap.image.count && set.attempts == 1 && set.finalURL == nil)
  }

  @Test func `Every unusual response delivers the same bytes`() async throws {
    let server = try LoopbackServer { request in
      Self.responses[Int(request.target.dropFirst())!].reply
    }

    for (index, response) in Self.responses.enumerated() {
      let source = try SourceURL(server.url("/\(index)"))
      let download = try await Downloader(.patient, transport: CurlTransport(.direct)).download(.init(source: source))
      #expect(download.body == Trap.image, "\(response.name)")
    }
  }

  @Test func `A host whose content coding is unknown gets one more request`() async throws {
    let coded = BodyCoding.gzip(Trap.image)
    let server = try LoopbackServer { request in
      request.target == "/coded"
        ? .http(200, ["Content-Encoding": "gzip"], coded) : .http(200, ["Content-Encoding": "aws-chunked"], Trap.image)
    }
    let downloader = Downloader(.patient, transport: CurlTransport(.direct))

    for target in ["/a", "/b", "/coded", "/coded", "/c"] {
      let download = try await downloader.download(DownloadRequest(source: SourceURL(server.url(target))))
      #expect(download.body == Trap.image)
    }

    #expect(server.requests.map(\.target) == ["/a", "/a", "/b", "/coded", "/coded", "/coded", "/c", "/c"])
  }

  @Test func `A head with a line without a colon costs one more request, which has the same target and fields`()
    async throws
  {
    let server = try LoopbackServer { request in
      request.target == "/a"
        ? .raw("HTTP/1.1 302 Found\r\nnonsense\r\nLocation: /b%20c?d=%2F&e=~\r\n\r\n")
        : .raw("HTTP/1.1 200 OK\r\nnonsense\r\n\(Self.length)\r\n", Trap.image)
    }
    var request = DownloadRequest(source: try SourceURL(server.url("/a")))
    request.headerFields[.accept] = "image/*"

    let download = try await Downloader(.patient, transport: CurlTransport(.direct)).download(request)

    #expect(download.body == Trap.image)
    #expect(server.requests.map(\.target) == ["/a", "/a", "/b%20c?d=%2F&e=~", "/b%20c?d=%2F&e=~"])
    for (first, second) in [(0, 1), (2, 3)] {
      for name in ["host", "accept", "user-agent"] {
        #expect(server.requests[first].fields[name] == server.requests[second].fields[name], "\(name)")
      }
    }
  }

  @Test func `A host that changes its content codings with each request gets no third one`() async throws {
    let count = Mutex(0)
    let server = try LoopbackServer { _ in
      let number = count.withLock { count in
        count += 1
        return count
      }
      return .http(200, ["Content-Encoding": number.isMultiple(of: 2) ? "gzip" : "zip"], Trap.image)
    }
    var request = DownloadRequest(source: try SourceURL(server.url("/a")))
    request.retry = RetryPolicy(limit: 0)

    let downloader = Downloader(.patient, transport: CurlTransport(.direct))
    _ = try? await downloader.download(request)

    #expect(server.requests.count == 2)
  }

  @Test func `Consecutive requests share a connection`() async throws {
    let server = try LoopbackServer { _ in .http(200, [:], Trap.image) }
    let downloader = Downloader(.patient, transport: CurlTransport(.direct))

    for index in 0..<10 {
      _ = try await downloader.download(DownloadRequest(source: SourceURL(server.url("/\(index)"))))
    }

    #expect(server.connectionCount == 1)
  }

  @Test(arguments: [ServerReply.Step.close, .reset])
  func `A reused connection that the server has closed is replaced within the same attempt`(
    end: ServerReply.Step
  ) async throws {
    let server = try LoopbackServer { request in
      request.target == "/2" && request.connection == 1 ? ServerReply([end]) : .http(200, [:], Trap.image)
    }
    var configuration = Downloader.Configuration.patient
    configuration.retry = RetryPolicy(limit: 0)
    let downloader = Downloader(configuration, transport: CurlTransport(.direct))

    for index in 1...3 {
      let download = try await downloader.download(DownloadRequest(source: SourceURL(server.url("/\(index)"))))
      #expect(download.attempts == 1 && download.body == Trap.image)
    }

    #expect(server.requests.map(\.connection) == [1, 1, 2, 2])
  }

  @Test func `The connection of a small error page is reused`() async throws {
    let server = try LoopbackServer { request in
      .http(request.target == "/missing" ? 404 : 200, [:], Array(repeating: 32, count: 20_000))
    }
    let downloader = Downloader(.patient, transport: CurlTransport(.direct))

    for path in ["/missing", "/there"] {
      _ = try await downloader.download(DownloadRequest(source: SourceURL(server.url(path))).acceptingAll)
    }

    #expect(server.connectionCount == 1)
  }
}
