import DownloadSupport
import ImageCache
import TestSupport
import Testing

@testable import BatchFetch

/// Requests with mirrors.
@Suite(.timeLimit(.minutes(20))) struct PipelineMirrorTests {
  private func request(_ fixture: PipelineFixture, _ paths: [String]) -> ThumbnailRequest {
    var request = fixture.request(paths[0])
    request.mirrors = paths.dropFirst().map { fixture.server.url($0) }
    return request
  }

  @Test func `Mirrors are requested in order until one has the image`() async throws {
    let fixture = try PipelineFixture { $0.target == "/there.png" ? .image() : .http(404) }
    let set = try await fixture.pipeline().thumbnails(
      for: request(fixture, ["/gone.png", "/gone2.png", "/there.png", "/never.png"]))

    #expect(fixture.server.requests.map(\.target) == ["/gone.png", "/gone2.png", "/there.png"])
    #expect(set.finalURL == fixture.server.url("/there.png"))
    #expect(set.attempts == 3)
  }

  @Test func `No mirror is requested if the first URL has the image`() async throws {
    let fixture = try PipelineFixture { _ in .image() }
    let set = try await fixture.pipeline().thumbnails(for: request(fixture, ["/a.png", "/b.png"]))

    #expect(fixture.server.requests.map(\.target) == ["/a.png"])
    #expect(set.finalURL == nil)
  }

  @Test(arguments: [(503, 404), (404, 503)])
  func `A retryable failure represents those of all mirrors`(first: Int, second: Int) async throws {
    let fixture = try PipelineFixture { .http($0.target == "/1.png" ? first : second) }
    let failure = await #expect(throws: FetchFailure.self) {
      try await fixture.pipeline().thumbnails(for: request(fixture, ["/1.png", "/2.png"]))
    }

    #expect(failure?.code == .http(503))
    #expect(failure?.attempts == 2)
    let urls = ["/1.png", "/2.png"].map { fixture.server.url($0) }
    #expect(failure?.candidates.map(\.url) == urls)
    #expect(failure?.candidates.map(\.code) == [.http(first), .http(second)])
    #expect(failure?.url == urls[first == 503 ? 0 : 1])
  }

  @Test func `The failure of a request names its URL, without its credentials`() async throws {
    let fixture = try PipelineFixture { _ in .http(404) }
    let url = fixture.server.url("/a.png").replacing("http://", with: "http://me:secret@")
    for url in [url, "http:/me:secret@a.example:port/", "ftp://me:secret@a.example/"] {
      let failure = await #expect(throws: FetchFailure.self) {
        try await fixture.pipeline().thumbnails(for: ThumbnailRequest(url: url, size: 8))
      }
      #expect(failure?.url?.contains("***@") == true && failure?.url?.contains("secret") == false)
      #expect(failure?.candidates == [])
    }
    #expect(FetchFailure.cancelled.about("http://a.example/").url == nil)
  }

  @Test func `A cancel while a mirror is requested stops the remaining ones`() async throws {
    let gate = Gate()
    let fixture = try PipelineFixture { $0.target == "/1.png" ? .http(404) : .image().after(gate) }
    let outcomes = Recorder<Result<ThumbnailSet, FetchFailure>>()
    let pipeline = fixture.pipeline()
    let token = pipeline.load(request(fixture, ["/1.png", "/2.png", "/3.png"])) { outcomes.record($0) }

    await fixture.server.waitForRequests(2)
    token.cancel()
    let outcome = await outcomes.values(count: 1)[0]
    gate.open()
    #expect(throws: FetchFailure.self) { try outcome.get() }

    if case .failure(let failure) = outcome { #expect(failure.code == .cancelled) }
    #expect(!fixture.server.requests.contains { $0.target == "/3.png" })
  }

  @Test func `Canceling all loads stops the remaining mirrors of each`() async throws {
    let gate = Gate()
    let fixture = try PipelineFixture { $0.target == "/1.png" ? .http(503) : .image().after(gate) }
    let outcomes = Recorder<FailureCode?>()
    let pipeline = fixture.pipeline()

    pipeline.load(request(fixture, ["/1.png", "/2.png", "/3.png"])) { outcomes.record($0.failure?.code) }
    await fixture.server.waitForRequests(2)
    pipeline.cancelAll()
    #expect(await outcomes.values(count: 1) == [.cancelled])

    gate.open()
    #expect(pipeline.runningCount == 0 && fixture.server.requests.map(\.target) == ["/1.png", "/2.png"])
  }
}
