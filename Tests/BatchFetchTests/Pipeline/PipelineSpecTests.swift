import ImageCache
import TestSupport
import Testing

@testable import BatchFetch

/// Requests with a spec out of range among valid ones.
@Suite(.timeLimit(.minutes(20))) struct PipelineSpecTests {
  @Test(arguments: [
    ThumbnailSpec(width: .max, scale: 2), ThumbnailSpec(width: 1_000_000, fit: .pad), ThumbnailSpec(width: 0),
    ThumbnailSpec(width: -1), ThumbnailSpec(width: 64, scale: .max), ThumbnailSpec(width: 64, quality: 1000),
  ])
  func `A spec out of range fails only its own request, before any download`(spec: ThumbnailSpec) async throws {
    let fixture = try PipelineFixture { _ in .image() }
    let pipeline = fixture.pipeline()
    let bad = ThumbnailRequest(url: fixture.server.url("/bad"), specs: [ThumbnailSpec(width: 16), spec])
    // A valid request for the same source.
    async let same = pipeline.thumbnails(for: fixture.request("/bad"))

    let failures = await withTaskGroup { group in
      for number in 0..<20 {
        group.addTask { (try? await pipeline.thumbnails(for: fixture.request("/good\(number)"))) == nil }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    let failure = await #expect(throws: FetchFailure.self) { try await pipeline.thumbnails(for: bad) }

    #expect(failure?.code == .image(.badSpec) && failure?.code.description == "bad_spec")
    #expect(failure?.code.isRetryable == false && failure?.attempts == 0)
    #expect(failures == 0)
    #expect(try await same.thumbnails.count == 1)
    #expect(fixture.server.requests.filter { $0.target == "/bad" }.count == 1)
  }

  @Test func `A spec out of range is not cached as a failure of the source`() async throws {
    let fixture = try PipelineFixture { _ in .image() }
    let pipeline = fixture.pipeline()
    let bad = ThumbnailRequest(url: fixture.server.url("/a"), specs: [ThumbnailSpec(width: 0)])

    await #expect(throws: FetchFailure.self) { try await pipeline.thumbnails(for: bad) }
    #expect(fixture.server.requests.isEmpty)
    #expect(try await pipeline.thumbnails(for: fixture.request("/a")).thumbnails.count == 1)
    await #expect(throws: FetchFailure.self) { try await pipeline.thumbnails(for: bad) }
  }
}
