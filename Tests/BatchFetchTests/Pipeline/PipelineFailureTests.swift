import Foundation
import ImageCache
import TestSupport
import Testing

@testable import BatchFetch

/// The failures of single requests.
@Suite(.timeLimit(.minutes(10))) struct PipelineFailureTests {
  struct Trouble: Sendable, CustomTestStringConvertible {
    let code: String
    let reply: ServerReply
    var testDescription: String { code }
  }

  private static let whole = SampleImage.jpeg(width: 200, height: 150)

  static let troubles = [
    Trouble(
      code: "truncated",
      reply: ServerReply([
        .send(ServerReply.head(200, ["Content-Length": "\(whole.count)"]) + whole[..<(whole.count / 2)]), .close,
      ])),
    Trouble(code: "truncated", reply: .http(200, [:], Array(whole[..<(whole.count / 2)]))),
    Trouble(
      code: "not_an_image", reply: .http(200, ["Content-Type": "image/png"], Array("<html><title>Gone".utf8))),
    Trouble(code: "http_404", reply: .http(404)),
    Trouble(code: "http_500", reply: .http(500)),
    Trouble(code: "too_many_pixels", reply: .http(200, [:], SampleImage.pngHeader(width: 60000, height: 60000))),
    Trouble(code: "unsupported_format", reply: .http(200, [:], Array("%!PS-Adobe-3.0\n".utf8))),
    Trouble(code: "empty_body", reply: .http(200)),
    Trouble(code: "connection_lost", reply: ServerReply([.reset])),
    Trouble(code: "http_206", reply: .http(206, ["Content-Range": "bytes 0-1/9"], [1, 2])),
  ]

  @Test(arguments: troubles)
  func `Each problem has its failure code and does not affect other images`(trouble: Trouble) async throws {
    let fixture = try PipelineFixture { $0.target == "/bad" ? trouble.reply : .image() }
    let pipeline = fixture.pipeline()
    async let good = pipeline.thumbnails(for: fixture.request("/good"))

    let failure = await #expect(throws: FetchFailure.self) {
      try await pipeline.thumbnails(for: fixture.request("/bad"))
    }
    #expect(failure?.code.description == trouble.code)
    #expect(failure?.attempts == 1)
    #expect(failure?.message.isEmpty == false)
    #expect(try await good.thumbnails.count == 1)
    #expect(pipeline.runningCount == 0)

    await pipeline.flush()
    let entry = pipeline.cache.entry(
      for: SourceKey(url: fixture.server.url("/bad")), url: fixture.server.url("/bad"),
      specs: [ThumbnailSpec(width: 16)])
    #expect(entry?.thumbnails.isEmpty ?? true)
  }

  @Test func `Bytes that are not an image are decoded once, whatever their URL and even after they expired`()
    async throws
  {
    var damaged = SampleImage.png(width: 60, height: 40)
    damaged[damaged.count / 2] ^= 0xff
    let fixture = try PipelineFixture { [damaged] _ in .http(200, ["Cache-Control": "max-age=60"], damaged) }
    let first = fixture.pipeline()
    for path in ["/a", "/b"] {
      let failure = await #expect(throws: FetchFailure.self) {
        try await first.thumbnails(for: fixture.request(path))
      }
      #expect(failure?.code == .image(.decodeError) && failure?.httpStatus == 200 && failure?.attempts == 1)
    }
    #expect(first.decodeCount == 1)

    await first.flush()
    let later = fixture.pipeline(now: { Date(timeIntervalSinceNow: 3600) })
    for path in ["/a", "/c"] {
      let failure = await #expect(throws: FetchFailure.self) {
        try await later.thumbnails(for: fixture.request(path))
      }
      #expect(failure?.code == .image(.decodeError))
    }
    #expect(later.decodeCount == 0)
    #expect(fixture.server.requests.count == 4)
  }

  @Test func `A refused connection fails with its own retryable code`() async throws {
    let fixture = try PipelineFixture { _ in .image() }
    let url = fixture.server.url("/a")

    fixture.server.stop()
    let failure = await #expect(throws: FetchFailure.self) {
      try await fixture.pipeline().thumbnails(for: ThumbnailRequest(url: url, size: 8))
    }

    #expect(failure?.code == .connectFailed && failure?.code.isRetryable == true)
  }

  @Test func `A missing image is not requested again for a while`() async throws {
    let fixture = try PipelineFixture { _ in .http(404) }
    for _ in 0..<2 {
      let pipeline = fixture.pipeline()
      let failure = await #expect(throws: FetchFailure.self) {
        try await pipeline.thumbnails(for: fixture.request("/a"))
      }
      #expect(failure?.code == .http(404))
      await pipeline.flush()
    }
    #expect(fixture.server.requests.count == 1)

    let later = fixture.pipeline(now: { Date(timeIntervalSinceNow: 660) })
    _ = await #expect(throws: FetchFailure.self) { try await later.thumbnails(for: fixture.request("/a")) }
    #expect(fixture.server.requests.count == 2)
  }

  @Test func `A truncated image is requested again in the next run`() async throws {
    let count = Counter()
    let fixture = try PipelineFixture { _ in
      count.next() == 1 ? .http(200, ["Cache-Control": "max-age=3600"], Array(Self.whole.prefix(900))) : .image()
    }
    let first = fixture.pipeline()

    _ = await #expect(throws: FetchFailure.self) { try await first.thumbnails(for: fixture.request("/a")) }
    await first.flush()

    #expect(try await fixture.pipeline().thumbnails(for: fixture.request("/a")).origin == .network)
  }

  @Test(arguments: [
    ("", "bad_url"), ("apps.plist", "bad_url"), ("//host/x.png", "bad_url"), ("http://", "bad_url"),
    ("http://a b/", "bad_url"), ("localhost:80/x", "bad_url"), ("http://h:99999/", "bad_url"),
    ("ftp://h/x", "blocked_scheme"), ("gopher://h/", "blocked_scheme"),
    ("javascript:alert(1)", "blocked_scheme"), ("file:///etc/hostname", "blocked_scheme"),
  ])
  func `Bad URLs fail before any request is made`(url: String, code: String) async throws {
    let fixture = try PipelineFixture { _ in .image() }
    let failure = await #expect(throws: FetchFailure.self) {
      try await fixture.pipeline().thumbnails(for: ThumbnailRequest(url: url, size: 8))
    }
    #expect(failure?.code.description == code && failure?.attempts == 0)
  }

  @Test(arguments: ["http://169.254.169.254/latest/meta-data", "http://[fe80::1]/", "http://[::ffff:169.254.1.1]/"])
  func `Link-local and metadata addresses are refused`(url: String) async throws {
    let fixture = try PipelineFixture { _ in .image() }
    let failure = await #expect(throws: FetchFailure.self) {
      try await fixture.pipeline().thumbnails(for: ThumbnailRequest(url: url, size: 8))
    }
    #expect(failure?.code == .blockedAddress)
  }

  @Test func `A pipeline for public addresses refuses loopback`() async throws {
    let fixture = try PipelineFixture { _ in .image() }
    let pipeline = fixture.pipeline(change: { $0.downloads.limits.addresses = .publicOnly })

    let failure = await #expect(throws: FetchFailure.self) {
      try await pipeline.thumbnails(for: fixture.request("/a"))
    }

    #expect(failure?.code == .blockedAddress)
    #expect(fixture.server.requests.isEmpty)
  }

  @Test func `Redirects end at their limit and never lead to a file`() async throws {
    let fixture = try PipelineFixture { request in
      .http(302, ["Location": request.target == "/file" ? "file:///etc/hostname" : "\(request.target)x"])
    }
    let loop = await #expect(throws: FetchFailure.self) {
      try await fixture.pipeline().thumbnails(for: fixture.request("/a"))
    }
    #expect(loop?.code == .tooManyRedirects)
    #expect(fixture.server.requests.count == 21)

    let file = await #expect(throws: FetchFailure.self) {
      try await fixture.pipeline().thumbnails(for: fixture.request("/file"))
    }
    #expect(file?.code == .blockedScheme)
  }
}
