import HTTPTypes
import TestSupport
import Testing

@testable import BatchFetch

@Suite("Header fields for framing and connections", .timeLimit(.minutes(20))) struct FramingTests {
  static let names = [
    "Content-Length", "transfer-encoding", "Connection", "Keep-Alive", "Proxy-Authorization", "proxy-connection", "TE",
    "Trailer", "Upgrade", "Expect", "HTTP2-Settings", "Content_Length", "transfer_encoding", "Proxy_Authorization",
  ]

  @Test(arguments: names)
  func `A download with a framing field fails alone, without a request`(name: String) async throws {
    let server = try LoopbackServer { _ in .http(200, [:], [1, 2, 3]) }
    let downloader = Downloader()
    let bad = DownloadRequest(
      source: try SourceURL(server.url("/bad")), headerFields: [try #require(HTTPField.Name(name)): "60"])

    let failure = await #expect(throws: FetchFailure.self) { _ = try await downloader.download(bad) }
    #expect(failure?.code == .badRow && failure?.url == server.url("/bad"))
    #expect(failure?.message == "The header field \(name) is set by the transport; remove it.")

    #expect(try await downloader.download(DownloadRequest(source: SourceURL(server.url("/good")))).body == [1, 2, 3])
    #expect(server.requests.map(\.target) == ["/good"])
    #expect(downloader.runningCount == 0)
  }

  @Test(arguments: names)
  func `A request for thumbnails with a framing field fails alone, without trying its mirrors`(
    name: String
  ) async throws {
    let fixture = try PipelineFixture { _ in .http(200, [:], SampleImage.png(width: 8, height: 8)) }
    let pipeline = fixture.pipeline()
    var bad = ThumbnailRequest(url: fixture.server.url("/bad"), size: 8)
    bad.mirrors = [fixture.server.url("/mirror")]
    bad.headerFields[try #require(HTTPField.Name(name))] = "60"

    let failure = await #expect(throws: FetchFailure.self) { _ = try await pipeline.thumbnails(for: bad) }

    #expect(failure?.code == .badRow)
    #expect(
      try await pipeline.thumbnails(for: ThumbnailRequest(url: fixture.server.url("/good"), size: 8)).httpStatus == 200)
    #expect(fixture.server.requests.map(\.target) == ["/good"])
  }

  @Test func `A caller may set its own conditions`() async throws {
    let server = try LoopbackServer { _ in .http(304) }
    var request = DownloadRequest(source: try SourceURL(server.url("/")))
    request.headerFields[.ifNoneMatch] = "\"a\""

    #expect(try await Downloader().download(request).response.status == .notModified)
  }

  @Test func `A download with a framing field and a dependency fails after the dependency`() async throws {
    let server = try LoopbackServer { _ in .http(200, [:], [1]) }
    let downloader = Downloader()
    let first = downloader.download(DownloadRequest(source: try SourceURL(server.url("/first")))) { _ in }
    let request = DownloadRequest(source: try SourceURL(server.url("/")), headerFields: [.connection: "close"])

    let failure = await withCheckedContinuation { continuation in
      downloader.download(request, after: [first]) { continuation.resume(returning: $0) }
    }

    #expect(throws: FetchFailure.self) { try failure.get() }
    #expect(server.requests.map(\.target) == ["/first"])
  }
}
