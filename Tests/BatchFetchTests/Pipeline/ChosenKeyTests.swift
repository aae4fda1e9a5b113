import DownloadSupport
import ImageCache
import TestSupport
import Testing

@testable import BatchFetch

/// Images whose URLs change, such as signed ones, under a cache key that stays the same.
@Suite(.timeLimit(.minutes(10))) struct ChosenKeyTests {
  private let fixture: PipelineFixture

  init() throws {
    fixture = try PipelineFixture { $0.target.contains("sig=") ? .image(1) : .http(404) }
  }

  private func origin(
    _ path: String, key: String? = nil, _ pipeline: ThumbnailPipeline
  ) async throws -> ThumbnailSet.Origin {
    var request = fixture.request(path)
    request.cacheKey = key
    return try await pipeline.thumbnails(for: request).origin
  }

  private func ignoringQueries(_ configuration: inout ThumbnailPipeline.Configuration) {
    configuration.cacheKeyQuery = .only(["id"])
  }

  @Test func `Requests with the same key are for one image, in memory and on disk`() async throws {
    let pipeline = fixture.pipeline()
    #expect(try await origin("/a?sig=1", key: "a", pipeline) == .network)
    #expect(try await origin("/a?sig=2", key: "a", pipeline) == .memory)
    #expect(try await origin("/a?sig=2", key: "b", pipeline) == .network)
    await pipeline.flush()

    #expect(try await origin("/a?sig=3", key: "a", fixture.pipeline()) == .disk)
    #expect(fixture.server.requests.count == 2)
  }

  @Test func `URLs that differ in other parameters of their query only are one image`() async throws {
    let pipeline = fixture.pipeline(change: ignoringQueries)
    #expect(try await origin("/a?id=1&sig=1", pipeline) == .network)
    #expect(try await origin("/a?sig=2&id=1", pipeline) == .memory)
    #expect(try await origin("/a?id=2&sig=2", pipeline) == .network)
  }

  @Test func `An entry of a signed URL and one of the URL without a signature are separate`() async throws {
    let pipeline = fixture.pipeline(change: ignoringQueries)
    let failure = await #expect(throws: FetchFailure.self) { try await origin("/a", pipeline) }
    #expect(failure?.code == .http(404))
    #expect(try await origin("/a?sig=1", pipeline) == .network)
    let again = await #expect(throws: FetchFailure.self) { try await origin("/a", pipeline) }
    #expect(again?.code == .http(404))
  }

  @Test func `Requests in flight with the same key share a download`() async throws {
    let transport = ScriptedTransport { _, _ in [.hold] + .response(SampleImage.png(width: 40, height: 30, seed: 1)) }
    let pipeline = ThumbnailPipeline.prompt(over: transport) { $0.cacheKeyQuery = .only([]) }
    let outcomes = Recorder<Bool>()
    for number in 0..<3 {
      pipeline.load(ThumbnailRequest(url: "http://a.test/x?sig=\(number)", size: 16)) {
        outcomes.record((try? $0.get()) != nil)
      }
    }
    await transport.resume(first: 1)

    #expect(await outcomes.values(count: 3) == [true, true, true])
    #expect(transport.paths == ["x?sig=0"])
  }

  @Test func `A key does not apply to mirrors, whose failures are their own`() async throws {
    let pipeline = fixture.pipeline()
    var request = fixture.request("/missing")
    request.cacheKey = "a"
    request.mirrors = [fixture.server.url("/lost"), fixture.server.url("/b?sig=1")]

    for origin in [ThumbnailSet.Origin.network, .memory] {
      #expect(try await pipeline.thumbnails(for: request).origin == origin)
    }
    #expect(fixture.server.requests.map(\.target) == ["/missing", "/lost", "/b?sig=1"])
  }
}
