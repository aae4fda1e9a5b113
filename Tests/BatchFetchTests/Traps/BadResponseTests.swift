import DownloadSupport
import Foundation
import HTTPTypes
import ImageCache
import TestSupport
import Testing

@testable import BatchFetch

@Suite("Bad responses", .timeLimit(.minutes(10))) struct BadResponseTests {
  private static let length = "Content-Length: \(Trap.image.count)\r\n"
  private static let ok = "HTTP/1.1 200 OK\r\n"
  private static let part = "HTTP/1.1 206 Part\r\nContent-Range: bytes 0-899/1000000000\r\n"
  private static let codings = "Transfer-Encoding: chunked\r\n"
  private static let chunked = "\(ok)Transfer-Encoding: chunked\r\n\r\n"
  private static let kilobyte = Array(repeating: UInt8(ascii: "x"), count: 1024)

  /// Responses that are closed, reset or garbled at every stage.
  static let broken: [Trap] = [
    Trap(name: "closed on arrival", code: "connection_lost", greeting: [.close]),
    .bad("reset after the request", "connection_lost", .reset),
    .bad("closed after the request", "connection_lost", .close),
    .bad("reset in the status line", "connection_lost", "HTTP/1".step, .reset),
    .bad("closed in the status line", "connection_lost", "HTTP/1.1 2"),
    .bad("reset in the head", "connection_lost", "\(ok)Content-Le".step, .reset),
    .bad("closed in the head", "connection_lost", "\(ok)Content-Le"),
    .bad("closed before the head's empty line", "truncated", "\(ok)\(length)"),
    .bad("a 404 closed in its head", "connection_lost", "HTTP/1.1 404 Not Found\r\nContent-Le"),
    .bad("a redirect closed in its head", "connection_lost", "HTTP/1.1 302 Found\r\nLocation: /b\r\nX"),
    .bad("closed after a 100", "connection_lost", "HTTP/1.1 100 Continue\r\n\r\n"),
    .bad("reset in the body", "connection_lost", "\(ok)\(length)\r\n".step, .send(Trap.half), .reset),
    .bad("closed in the body", "truncated", "\(ok)\(length)\r\n", Trap.half),
    .bad("closed before the body", "truncated", "\(ok)\(length)\r\n"),
    .bad("closed in a body without a length", "truncated", "\(ok)\r\n", Trap.half),
    .bad("closed in a body after a line without a colon", "truncated", "\(ok)nonsense\r\n\(length)\r\n", Trap.half),
    .bad("closed in a head with a line without a colon", "connection_lost", "\(ok)nonsense\r\nCont"),
    .bad("chunks after a line without a colon", "connection_lost", "\(ok)nonsense\r\n\(codings)\r\n0\r\n\r\n"),
    .bad("a bad length after a line without a colon", "connection_lost", "\(ok)Content-Length: x\r\nnonsense\r\n\r\n"),
    .bad("closed between chunks", "truncated", chunked, BodyCoding.chunked(Trap.half, size: 900, rest: "")),
    .bad("closed in a chunk", "truncated", "\(chunked)1000\r\nabc"),
    .bad("a declared length that is too short", "truncated", "\(ok)Content-Length: 900\r\n\r\n", Trap.image),
    .bad("reset in a chunk", "connection_lost", "\(chunked)1000\r\nabc".step, .reset),
    .bad("a chunk size that is not a number", "connection_lost", "\(chunked)zz\r\n", Trap.image),
    .bad("a chunk size that overflows", "connection_lost", "\(chunked)fffffffffffffffffff\r\n", Trap.image),
    .bad("a negative length", "connection_lost", "\(ok)Content-Length: -1\r\n\r\n", Trap.image),
    .bad("a length that is not a number", "connection_lost", "\(ok)Content-Length: ten\r\n\r\n", Trap.image),
    .bad("two lengths", "connection_lost", "\(ok)Content-Length: 900\r\n\(length)\r\n", Trap.image),
    .bad(
      "two lengths, the smaller one last", "connection_lost", "\(ok)\(length)Content-Length: 900\r\n\r\n", Trap.image),
    .bad("another protocol", "connection_lost", "SSH-2.0-OpenSSH_9.2\r\n"),
    .bad("bytes without a head", "connection_lost", "", Trap.image),
  ]

  /// Complete responses without an image.
  static let useless: [Trap] = [
    Trap(name: "404", code: "http_404", reply: .http(404)),
    .bad("a 404 with a line without a colon", "http_404", "HTTP/1.1 404 Not Found\r\nnonsense\r\n\r\n", Trap.image),
    Trap(name: "410", code: "http_410", reply: .http(410)),
    Trap(name: "401", code: "http_401", reply: .http(401, ["WWW-Authenticate": "Basic realm=\"x\""])),
    Trap(name: "403", code: "http_403", reply: .http(403)),
    Trap(name: "408", code: "http_408", reply: .http(408)),
    Trap(name: "425", code: "http_425", reply: .http(425)),
    Trap(name: "429", code: "http_429", reply: .http(429)),
    Trap(name: "500", code: "http_500", reply: .http(500)),
    Trap(name: "502", code: "http_502", reply: .http(502)),
    Trap(name: "503", code: "http_503", reply: .http(503)),
    Trap(name: "504", code: "http_504", reply: .http(504)),
    Trap(name: "522", code: "http_522", reply: .http(522)),
    .bad(
      "an unrequested 206 with a part", "http_206",
      "HTTP/1.1 206 Part\r\nContent-Range: bytes 0-899/\(Trap.image.count)\r\nContent-Length: 900\r\n\r\n",
      Array(Trap.image[..<900])),
    .bad(
      "a 206 of unknown length", "http_206",
      "HTTP/1.1 206 Part\r\nContent-Range: bytes 0-899/*\r\nContent-Length: 900\r\n\r\n", Array(Trap.image[..<900])),
    .bad("a 206 without a range", "http_206", "HTTP/1.1 206 Part\r\n\(length)\r\n", Trap.image),
    .bad("an unrequested 206 that never ends", "http_206", "\(part)\r\n".step, .sendForever(kilobyte)),
    .bad("a 206 without a range that never ends", "http_206", "HTTP/1.1 206 Part\r\n\r\n".step, .sendForever(kilobyte)),
    Trap(name: "an unrequested 304", code: "http_304", reply: .http(304)),
    Trap(name: "a 404 with an image", code: "http_404", reply: .http(404, [:], Trap.image)),
    .bad("a 404 with a cut body", "http_404", "HTTP/1.1 404 No\r\n\(length)\r\n", Trap.half),
    .bad("a 404 with a reset body", "http_404", "HTTP/1.1 404 No\r\n\(length)\r\n".step, .send(Trap.half), .reset),
    .bad("a 404 that never ends", "http_404", "HTTP/1.1 404 No\r\n\r\n".step, .sendForever(kilobyte)),
    Trap(name: "204", code: "empty_body", reply: .raw("HTTP/1.1 204 No Content\r\n\r\n")),
    Trap(name: "an empty 200", code: "empty_body", reply: .http(200)),
    .bad("a chunked body without chunks", "empty_body", "\(chunked)0\r\n\r\n"),
    Trap(name: "a web page", code: "not_an_image", reply: .http(200, [:], Array("<!doctype html><title>Gone".utf8))),
    Trap(
      name: "a web page with the type of an image", code: "not_an_image",
      reply: .http(200, ["Content-Type": "image/jpeg"], Array("\n\n <HTML><head><title>Sign in</title>".utf8))),
    Trap(
      name: "JSON with the type of an image", code: "not_an_image",
      reply: .http(200, ["Content-Type": "image/png"], Array("{\"error\":\"not found\"}".utf8))),
  ]

  /// Responses that waste resources, or whose content coding is unusable.
  static let greedy: [Trap] = [
    .bad("a body that never ends", "too_large_bytes", "\(ok)\r\n".step, .send(Trap.half), .sendForever(kilobyte)),
    .bad(
      "chunks that never end", "too_large_bytes", chunked.step,
      .send(BodyCoding.chunked(Trap.half, size: 900, rest: "")),
      .sendForever(BodyCoding.chunked(kilobyte, size: 1024, rest: ""))),
    .bad("a declared length over the limit", "too_large_bytes", "\(ok)Content-Length: 9999999\r\n\r\n", Trap.image),
    .bad(
      "a small gzip of a large body", "too_large_bytes", "\(ok)Content-Encoding: gzip\r\n\r\n",
      BodyCoding.gzip(Trap.half + Array(repeating: 0, count: 8 << 20))),
    .bad("a head that never ends", "too_large_bytes", ok.step, .sendForever(Array("X-A: b\r\n".utf8))),
    .bad(
      "a head that never ends after a line without a colon", "too_large_bytes", "\(ok)nonsense\r\n".step,
      .sendForever(Array("X-A: b\r\n".utf8))),
    .bad(
      "a body that never ends after a line without a colon", "too_large_bytes", "\(ok)nonsense\r\n\r\n".step,
      .send(Trap.half), .sendForever(kilobyte)),
    .bad(
      "gzip after a line without a colon", "bad_encoding", "\(ok)nonsense\r\nContent-Encoding: gzip\r\n\r\n",
      BodyCoding.gzip(Trap.image)),
    .bad("a field that never ends", "connection_lost", "\(ok)X-A: ".step, .sendForever(kilobyte)),
    .bad(
      "interim responses that never end", "too_large_bytes",
      .sendForever(Array("HTTP/1.1 102 Processing\r\n\r\n".utf8))),
    .bad(
      "deflate inside an unknown coding", "not_an_image", "\(ok)Content-Encoding: deflate, aws-chunked\r\n\r\n",
      BodyCoding.zlib(Trap.image)),
    .bad("a body that is not gzip", "bad_encoding", "\(ok)Content-Encoding: gzip\r\n\(length)\r\n", Trap.image),
    .bad(
      "damaged gzip", "bad_encoding", "\(ok)Content-Encoding: gzip\r\n\r\n",
      BodyCoding.gzip(Trap.image).enumerated().map { $0 > 400 ? ~$1 : $1 }),
    .bad("damaged br", "bad_encoding", "\(ok)Content-Encoding: br\r\n\(length)\r\n", Trap.image),
    .bad(
      "a hundred codings", "bad_encoding",
      "\(ok)Content-Encoding: \(Array(repeating: "gzip", count: 100).joined(separator: ", "))\r\n\(length)\r\n",
      Trap.image),
  ]

  @Test(arguments: broken + useless + greedy)
  func `A bad response fails with its code, affects no other image, and leaves nothing partial`(
    trap: Trap
  ) async throws {
    let fixture = try PipelineFixture { _ in .image() }
    let bad = try LoopbackServer(greeting: trap.greeting) { _ in trap.reply }
    let pipeline = fixture.pipeline(change: { $0.downloads.limits.maxBytes = 2 << 20 })

    async let good = pipeline.thumbnails(for: fixture.request("/good"))
    let failure = await #expect(throws: FetchFailure.self) {
      try await pipeline.thumbnails(for: ThumbnailRequest(url: bad.url("/bad"), size: 16))
    }

    let code = try #require(failure?.code)
    #expect(code.description == trap.code, "\(failure?.message ?? "")")
    #expect(failure?.attempts == 1)
    #expect(failure?.message.hasSuffix(".") == true)
    #expect(try await good.thumbnails.count == 1)
    #expect(pipeline.runningCount == 0)

    await pipeline.flush()
    let key = SourceKey(url: bad.url("/bad"))
    let entry = pipeline.cache.entry(for: key, url: bad.url("/bad"), specs: [ThumbnailSpec(width: 16)])
    #expect(entry?.thumbnails.isEmpty ?? true)
    // Temporary failures are not cached at all.
    if code.isRetryable { #expect(entry == nil) }
  }

  struct Endless: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let head: String
    var fields: HTTPFields = [:]
    let code: String
  }

  static let endless = [
    Endless(testDescription: "an unrequested 206", head: "\(part)\r\n", code: "206"),
    Endless(
      testDescription: "a requested 206", head: "\(part)\r\n", fields: [.range: "bytes=0-899"], code: "206"),
    Endless(testDescription: "a 404", head: "HTTP/1.1 404 No\r\n\r\n", code: "404"),
    Endless(testDescription: "a 200", head: "\(ok)\r\n", code: "too_large_bytes"),
    Endless(testDescription: "a 206 with the whole range", head: "\(whole)\r\n", code: "too_large_bytes"),
  ]

  private static let whole = "HTTP/1.1 206 Part\r\nContent-Range: bytes 0-999999999/1000000000\r\n"

  @Test(arguments: endless)
  func `An endless response is read only up to its limit`(response: Endless) async throws {
    let sent = Counter()
    let server = try LoopbackServer { _ in
      ServerReply([response.head.step, .sendCounting(Self.kilobyte, sent)])
    }
    var configuration = Downloader.Configuration.patient
    configuration.limits.maxBytes = 128 << 10
    configuration.retry = RetryPolicy(limit: 0)
    var request = DownloadRequest(source: try SourceURL(server.url("/")))
    request.headerFields = response.fields
    request.responses = .image

    let result = await Result(of: { () async throws(FetchFailure) in
      try await Downloader(configuration, transport: CurlTransport(.direct)).download(request)
    })

    switch result {
    case .success(let download): #expect("\(download.response.status.code)" == response.code && download.body.isEmpty)
    case .failure(let failure): #expect(failure.code.description == response.code)
    }
    await server.waitForClosedConnections(1)
    // The buffers of the system hold more than the client read.
    #expect(sent.value < 24 << 10)
  }

  @Test func `A reset on arrival counts as a failed or as a lost connection`() async throws {
    let bad = try LoopbackServer(greeting: [.reset]) { _ in .http() }
    let fixture = try PipelineFixture { _ in .image() }

    let failure = await #expect(throws: FetchFailure.self) {
      try await fixture.pipeline().thumbnails(for: ThumbnailRequest(url: bad.url("/bad"), size: 16))
    }

    #expect([.connectFailed, .connectionLost].contains(failure?.code))
  }

  @Test func `Only bad responses that may be temporary are retryable`() {
    let retried = Set(
      (Self.broken + Self.useless + Self.greedy).map(\.code).filter { FailureCode($0)?.isRetryable ?? false })

    #expect(
      retried == [
        "connection_lost", "truncated", "empty_body", "http_408", "http_425", "http_429", "http_500", "http_502",
        "http_503", "http_504", "http_522",
      ])
  }
}
