import Foundation
import HTTPTypes
import ImageCache
import TestSupport
import Testing

@testable import BatchFetch

/// Thumbnails from the network, from memory, from disk and from files.
@Suite(.timeLimit(.minutes(10))) struct PipelineTests {
  @Test func `An image comes from the network first, then from memory, and from disk in the next run`() async throws {
    let fixture = try PipelineFixture { _ in .image() }
    let pipeline = fixture.pipeline()

    let first = try await pipeline.thumbnails(for: fixture.request("/a"))
    #expect(first.origin == .network && first.httpStatus == 200 && first.attempts == 1)
    #expect(first.source == SourceImage(size: PixelSize(width: 40, height: 30), format: .png))
    #expect(first.thumbnails.map(\.size) == [PixelSize(width: 16, height: 12)])

    let second = try await pipeline.thumbnails(for: fixture.request("/a"))
    #expect(second.origin == .memory && second.attempts == 0)

    await pipeline.flush()
    let third = try await fixture.pipeline().thumbnails(for: fixture.request("/a"))
    #expect(third.origin == .disk)
    #expect(first.thumbnails == second.thumbnails && first.thumbnails == third.thumbnails)
    #expect(fixture.server.requests.count == 1)
  }

  @Test func `Two sizes in one request cost one download and one decode`() async throws {
    let fixture = try PipelineFixture { _ in .image() }
    let pipeline = fixture.pipeline()
    let request = ThumbnailRequest(
      url: fixture.server.url("/a"), specs: [ThumbnailSpec(width: 8), ThumbnailSpec(width: 20)])

    let set = try await pipeline.thumbnails(for: request)

    #expect(set.thumbnails.map(\.size.width) == [8, 20])
    #expect(fixture.server.requests.count == 1)
    #expect(pipeline.decodeCount == 1)
  }

  @Test func `Two callers that want different sizes share one download and one decode`() async throws {
    let gate = Gate()
    let fixture = try PipelineFixture { _ in .image().after(gate) }
    let pipeline = fixture.pipeline()
    let outcomes = Recorder<Result<ThumbnailSet, FetchFailure>>()

    for size in [8, 20] { pipeline.load(fixture.request("/a", size: size)) { outcomes.record($0) } }
    await fixture.server.waitForRequests(1)
    gate.open()
    let widths = await outcomes.values(count: 2).compactMap { try? $0.get().thumbnails.first?.size.width }

    #expect(Set(widths) == [8, 20])
    #expect(fixture.server.requests.count == 1)
    #expect(pipeline.decodeCount == 1)
    #expect(pipeline.runningCount == 0)
  }

  @Test func `A stale entry that the server confirms is served without a body`() async throws {
    let fixture = try PipelineFixture { request in
      request.fields["if-none-match"] == "\"v1\""
        ? .http(304, ["ETag": "\"v1\""]) : .image(fields: ["ETag": "\"v1\"", "Cache-Control": "max-age=60"])
    }
    let first = fixture.pipeline()
    let original = try await first.thumbnails(for: fixture.request("/a"))

    await first.flush()
    let later = fixture.pipeline(now: { Date(timeIntervalSinceNow: 3600) })
    let confirmed = try await later.thumbnails(for: fixture.request("/a"))

    #expect(confirmed.origin == .revalidated && confirmed.httpStatus == 304)
    #expect(confirmed.thumbnails == original.thumbnails)
    #expect(try await later.thumbnails(for: fixture.request("/a")).origin == .memory)
    #expect(fixture.server.requests.count == 2)
    #expect(later.decodeCount == 0)
  }

  @Test func `A stale entry whose source has changed is rendered again`() async throws {
    let count = Counter()
    let fixture = try PipelineFixture { _ in .image(count.next(), fields: ["ETag": "\"\(count.value)\""]) }
    let first = fixture.pipeline()
    let old = try await first.thumbnails(for: fixture.request("/a"))

    await first.flush()
    let new = try await fixture.pipeline().thumbnails(for: fixture.request("/a"))

    #expect(new.origin == .network && new.thumbnails != old.thumbnails)
    #expect(fixture.server.requests.last?.fields["if-none-match"] == "\"1\"")
  }

  @Test func `A 304 for another version confirms nothing`() async throws {
    let fixture = try PipelineFixture { request in
      request.fields["if-none-match"] == nil ? .image(fields: ["ETag": "\"v1\""]) : .http(304, ["ETag": "\"v2\""])
    }
    let first = fixture.pipeline()

    _ = try await first.thumbnails(for: fixture.request("/a"))
    await first.flush()
    let second = try await fixture.pipeline().thumbnails(for: fixture.request("/a"))

    #expect(second.origin == .network)
    #expect(fixture.server.requests.map { $0.fields["if-none-match"] } == [nil, "\"v1\"", nil])
  }

  @Test func `A stale entry is served when the server has an error`() async throws {
    let count = Counter()
    let fixture = try PipelineFixture { _ in count.next() == 1 ? .image(fields: [:]) : .http(503) }
    let first = fixture.pipeline()
    let original = try await first.thumbnails(for: fixture.request("/a"))

    await first.flush()
    let second = try await fixture.pipeline().thumbnails(for: fixture.request("/a"))

    #expect(second.origin == .stale && second.thumbnails == original.thumbnails)
  }

  @Test func `An offline pipeline serves the cache, stale entries included, and makes no request`() async throws {
    let fixture = try PipelineFixture { _ in .image() }
    let first = fixture.pipeline()

    _ = try await first.thumbnails(for: fixture.request("/a"))
    await first.flush()
    let offline = fixture.pipeline(mode: .offline, now: { Date(timeIntervalSinceNow: 864_000) })
    #expect(try await offline.thumbnails(for: fixture.request("/a")).origin == .stale)

    let failure = await #expect(throws: FetchFailure.self) {
      try await offline.thumbnails(for: fixture.request("/b"))
    }
    #expect(failure?.code == .offlineMiss)
    #expect(fixture.server.requests.count == 1)
  }

  @Test func `A refreshing pipeline revalidates fresh entries too`() async throws {
    let fixture = try PipelineFixture { request in
      request.fields["if-none-match"] == nil
        ? .image(fields: ["ETag": "\"1\"", "Cache-Control": "max-age=3600"]) : .http(304)
    }
    let first = fixture.pipeline()

    _ = try await first.thumbnails(for: fixture.request("/a"))
    await first.flush()

    #expect(try await fixture.pipeline(mode: .refresh).thumbnails(for: fixture.request("/a")).origin == .revalidated)
  }

  @Test func `A response that must not be stored is not on disk`() async throws {
    let fixture = try PipelineFixture { _ in .image(fields: ["Cache-Control": "no-store"]) }
    for _ in 0..<2 {
      let pipeline = fixture.pipeline()
      #expect(try await pipeline.thumbnails(for: fixture.request("/a")).origin == .network)
      await pipeline.flush()
    }

    #expect(fixture.server.requests.count == 2)
  }

  @Test func `A file is read if files are allowed, and refused otherwise`() async throws {
    let fixture = try PipelineFixture { _ in .image() }
    let path = try fixture.directory.write(SampleImage.png(width: 40, height: 30), as: "a b.png")
    let request = ThumbnailRequest(url: "file://\(path)", size: 8)

    let failure = await #expect(throws: FetchFailure.self) { try await fixture.pipeline().thumbnails(for: request) }
    #expect(failure?.code == .blockedScheme)

    let set = try await fixture.pipeline(change: { $0.files = .allowed }).thumbnails(for: request)
    #expect(set.origin == .file && set.thumbnails.first?.size.width == 8)

    // A symbolic link to an image is read too.
    let link = fixture.directory.path("link.png")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    let linked = ThumbnailRequest(url: "file://\(link)", size: 8)
    #expect(try await fixture.pipeline(change: { $0.files = .allowed }).thumbnails(for: linked).origin == .file)
  }

  @Test(arguments: ["missing.png", "directory", "pipe", "image.png%00.txt"])
  func `A path that is missing or not a regular file fails as unreadable`(name: String) async throws {
    let fixture = try PipelineFixture { _ in .image() }
    try FileManager.default.createDirectory(
      atPath: fixture.directory.path("directory"), withIntermediateDirectories: false)
    #expect(mkfifo(fixture.directory.path("pipe"), 0o600) == 0)
    _ = try fixture.directory.write(SampleImage.png(width: 8, height: 8), as: "image.png")

    let request = ThumbnailRequest(url: "file://\(fixture.directory.path(name))", size: 8)
    let failure = await #expect(throws: FetchFailure.self) {
      try await fixture.pipeline(change: { $0.files = .allowed }).thumbnails(for: request)
    }
    #expect(failure?.code == .fileUnreadable && failure?.attempts == 1 && failure?.message.contains(name) == true)
  }

  @Test func `Configured header fields, added or removed, are part of the cache key`() async throws {
    let fixture = try PipelineFixture { _ in .image() }
    for agent in ["robot/1", "robot/2", nil, "robot/1"] {
      let pipeline = fixture.pipeline(change: { $0.downloads.headerFields[.userAgent] = agent })
      _ = try await pipeline.thumbnails(for: fixture.request("/a"))
      await pipeline.flush()
    }
    _ = try await fixture.pipeline().thumbnails(for: fixture.request("/a"))

    #expect(fixture.server.requests.map { $0.fields["user-agent"]?.hasPrefix("robot") } == [true, true, nil, false])
  }

  @Test func `A request names the media types that can be decoded, unless the configuration names others`() async throws
  {
    let fixture = try PipelineFixture { _ in .image() }
    for accept in [nil, "image/png"] {
      let pipeline = fixture.pipeline(change: { $0.downloads.headerFields[.accept] = accept })
      _ = try await pipeline.thumbnails(for: fixture.request("/a"))
    }

    #expect(fixture.server.requests.map { $0.fields["accept"] } == [SourceFormat.accept, "image/png"])
  }

  @Test func `An image with too many pixels is downloaded again under a higher limit`() async throws {
    let fixture = try PipelineFixture { _ in .image() }
    for (limit, isFetched) in [(100, false), (10_000, true)] {
      let pipeline = fixture.pipeline(change: { $0.maxPixels = limit })
      let set = try? await pipeline.thumbnails(for: fixture.request("/a"))
      #expect((set?.origin == .network) == isFetched)
      await pipeline.flush()
    }
  }

  @Test func `Requests with different header fields have different images`() async throws {
    let fixture = try PipelineFixture { request in .image(request.fields["x-user"] == "a" ? 1 : 2) }
    let pipeline = fixture.pipeline()
    var (first, second) = (fixture.request("/a"), fixture.request("/a"))
    first.headerFields = [.init("X-User")!: "a"]
    second.headerFields = [.init("X-User")!: "b"]

    let sets = (try await pipeline.thumbnails(for: first), try await pipeline.thumbnails(for: second))

    #expect(sets.0.thumbnails != sets.1.thumbnails)
  }
}
