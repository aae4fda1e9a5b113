import Foundation
import HTTPTypes
import ImageCache
import TestSupport
import Testing

@testable import BatchFetch
@testable import Downloads

/// The end of the freshness of results, by the place that served them.
@Suite(.timeLimit(.minutes(10))) struct FreshnessTests {
  private static let start = Date(timeIntervalSince1970: 1_790_000_000)
  private static let soon: @Sendable () -> Date = { start + 60 }
  private static let late: @Sendable () -> Date = { start + 7200 }
  private static let hour = ["Cache-Control": "max-age=3600", "ETag": "\"1\""]

  /// A server that confirms its image, which is fresh for an hour.
  private func fixture(_ fields: [String: String] = hour) throws -> PipelineFixture {
    try PipelineFixture { request in
      request.fields["if-none-match"] == nil ? .image(fields: fields) : .http(304, fields)
    }
  }

  private func load(
    _ fixture: PipelineFixture, size: Int = 16, _ pipeline: ThumbnailPipeline
  ) async throws -> ThumbnailSet {
    let set = try await pipeline.thumbnails(for: fixture.request("/a", size: size))
    await pipeline.flush()
    return set
  }

  @Test func `Network, memory and disk give the end of the freshness of the response`() async throws {
    let fixture = try fixture()
    let pipeline = fixture.pipeline(now: { Self.start })
    let sets = [
      try await load(fixture, pipeline), try await load(fixture, pipeline),
      try await load(fixture, fixture.pipeline(now: Self.soon)),
    ]

    #expect(sets.map(\.origin) == [.network, .memory, .disk])
    #expect(sets.allSatisfy { $0.freshUntil == Self.start + 3600 })
  }

  @Test func `A revalidated image is fresh from its confirmation on`() async throws {
    let fixture = try fixture()
    _ = try await load(fixture, fixture.pipeline(now: { Self.start }))
    let set = try await load(fixture, fixture.pipeline(now: Self.late))

    #expect(set.origin == .revalidated && set.freshUntil == Self.start + 7200 + 3600)
  }

  @Test func `A size made from a kept original is as fresh as its source`() async throws {
    let fixture = try fixture()
    func pipeline(_ now: @escaping @Sendable () -> Date) -> ThumbnailPipeline {
      fixture.pipeline(now: now) { $0.cache.originals = .standard }
    }
    _ = try await load(fixture, pipeline { Self.start })
    let set = try await load(fixture, size: 20, pipeline(Self.soon))

    #expect(set.origin == .disk && fixture.server.requests.count == 1)
    #expect(set.freshUntil == Self.start + 3600)
  }

  @Test func `An image from the remote cache is as fresh as its source`() async throws {
    let fixture = try RemoteFixture()
    let clock = MovingDate()
    try await fixture.fill(try fixture.machine("one", clock: clock))
    let respondedAt = clock.now
    clock.advance(by: 60)
    let set = try await fixture.machine("two", clock: clock).thumbnails(for: fixture.request())

    #expect(set.origin == .remote)
    // The time of the response is kept in whole seconds.
    #expect(set.freshUntil == Date(timeIntervalSince1970: respondedAt.timeIntervalSince1970.rounded(.down) + 3600))
  }

  @Test(arguments: ["no-cache", "no-store", "max-age=0", ""])
  func `A response that must be validated before every use is never fresh`(control: String) async throws {
    let fixture = try fixture(["Cache-Control": control])
    let pipeline = fixture.pipeline(now: { Self.start })
    #expect(try await load(fixture, pipeline).freshUntil == nil)

    // A batch serves it from memory all the same.
    var request = fixture.request("/a")
    request.since = .now - .seconds(3600)
    let again = try await pipeline.thumbnails(for: request)
    #expect(again.origin == .memory && again.freshUntil == nil)
  }

  @Test(arguments: [CacheMode.offline, .normal])
  func `A stale image has no end of freshness`(mode: CacheMode) async throws {
    let count = Counter()
    let fixture = try PipelineFixture { _ in count.next() == 1 ? .image() : .http(503) }
    _ = try await load(fixture, fixture.pipeline(now: { Self.start }))
    let set = try await load(fixture, fixture.pipeline(mode: mode, now: Self.late))

    #expect(set.origin == .stale && set.freshUntil == nil)
  }

  @Test func `An image that stands in for an error is not fresh, even if its response is`() async throws {
    let count = Counter()
    let fixture = try PipelineFixture { _ in count.next() == 1 ? .image() : .http(503) }
    _ = try await load(fixture, fixture.pipeline(now: { Self.start }))
    let set = try await load(fixture, fixture.pipeline(mode: .refresh, now: Self.soon))

    #expect(set.origin == .stale && set.freshUntil == nil)
  }

  @Test func `A damaged image is not fresh`() async throws {
    let image = SampleImage.png(width: 40, height: 30)
    let fixture = try PipelineFixture { _ in .http(200, Self.hour, Array(image.dropLast(image.count / 4))) }
    let set = try await load(fixture, fixture.pipeline(now: { Self.start }) { $0.failLevel = .none })

    #expect(set.origin == .network && !set.warnings.isEmpty && set.freshUntil == nil)
  }

  @Test func `A file is never fresh`() async throws {
    let fixture = try fixture()
    let path = try fixture.directory.write(SampleImage.png(width: 40, height: 30), as: "a.png")
    let pipeline = fixture.pipeline(change: { $0.files = .allowed })
    let set = try await pipeline.thumbnails(for: ThumbnailRequest(url: "file://\(path)", size: 8))

    #expect(set.origin == .file && set.freshUntil == nil)
  }
}
