import DownloadSupport
import Foundation
import HTTPTypes
import ImageCache
import TestSupport
import Testing

@testable import BatchFetch

/// The thumbnails that a pipeline returns at once, from memory.
@Suite(.timeLimit(.minutes(10))) struct CachedThumbnailTests {
  private static let image = SampleImage.png(width: 40, height: 30)

  private let transport = ScriptedTransport { request, _ in
    switch request.source.lastPathComponent {
    case "gone": .response([], status: 404)
    default: .response(image, fields: [.cacheControl: "max-age=3600"])
    }
  }
  private let clock = MovingDate()

  private func pipeline(_ change: (inout ThumbnailPipeline.Configuration) -> Void = { _ in }) -> ThumbnailPipeline {
    .prompt(over: transport) {
      $0.downloads.now = { [clock] in clock.now }
      change(&$0)
    }
  }

  private func request(_ name: String, size: Int = 16) -> ThumbnailRequest {
    ThumbnailRequest(url: "http://a.test/\(name)", size: size)
  }

  @Test func `A thumbnail in memory is returned at once, and counts as a hit`() async throws {
    let pipeline = pipeline()
    #expect(pipeline.cached(request("a")) == nil)
    let loaded = try await pipeline.thumbnails(for: request("a"))

    let cached = try #require(pipeline.cached(request("a")))
    #expect(cached.origin == .memory && cached.thumbnails == loaded.thumbnails && cached.attempts == 0)
    #expect(cached.digest == loaded.digest && cached.freshUntil == loaded.freshUntil)
    #expect(pipeline.cache.counters.memoryHits == 1)
    #expect(transport.requests.count == 1 && pipeline.runningCount == 0)
  }

  @Test func `A size that is missing, a stale entry and an emptied memory give nil, and no request`() async throws {
    let pipeline = pipeline()
    _ = try await pipeline.thumbnails(for: request("a"))

    #expect(pipeline.cached(request("a", size: 20)) == nil)
    clock.advance(by: 3601)
    #expect(pipeline.cached(request("a")) == nil)
    clock.advance(by: -3601)
    #expect(pipeline.cached(request("a")) != nil)
    pipeline.cache.emptyMemory()
    #expect(pipeline.cached(request("a")) == nil)
    #expect(transport.requests.count == 1 && pipeline.cache.counters.memoryHits == 1)
  }

  @Test func `A known failure, other bytes and invalid requests give nil`() async throws {
    let pipeline = pipeline { $0.files = .refused }
    _ = try await pipeline.thumbnails(for: request("a"))
    await #expect(throws: FetchFailure.self) { try await pipeline.thumbnails(for: request("gone")) }
    var wrong = request("a")
    wrong.digest = BodyDigest(of: [1])
    var framed = request("a")
    framed.headerFields[.contentLength] = "1"

    for request in [wrong, framed, request("gone"), request("a", size: 0)] { #expect(pipeline.cached(request) == nil) }
    for url in ["", "http://", "ftp://a.test/a", "file:///etc/passwd"] {
      #expect(pipeline.cached(ThumbnailRequest(url: url, size: 16)) == nil)
    }
  }

  @Test func `Nothing is read from a disk that hangs`() async throws {
    let directory = try TemporaryDirectory()
    let lookUps = HeldThread(isHeld: false)
    func onDisk() -> ThumbnailPipeline {
      pipeline {
        $0.cache.directory = directory.path("cache")
        $0.makeThreads = { $0 == "thumbs.lookups" ? lookUps.threads : .dispatched($0, count: $1) }
      }
    }
    let first = onDisk()
    _ = try await first.thumbnails(for: request("a"))
    await first.flush()

    let second = onDisk()
    await lookUps.hold()
    let waiting = second.load(request("a")) { _ in }
    #expect(second.cached(request("a")) == nil)
    #expect(first.cached(request("a"))?.origin == .memory)

    lookUps.release()
    await second.waitUntilFinished()
    #expect(second.cached(request("a"))?.origin == .memory)
    withExtendedLifetime(waiting) {}
    #expect(transport.requests.count == 1)
  }

  @Test func `An offline pipeline serves a stale entry, but not at once`() async throws {
    let directory = try TemporaryDirectory()
    let first = pipeline { $0.cache.directory = directory.path("cache") }
    _ = try await first.thumbnails(for: request("a"))
    await first.flush()
    clock.advance(by: 3601)
    let offline = pipeline {
      $0.cache.directory = directory.path("cache")
      $0.cacheMode = .offline
    }

    for _ in 0..<2 {
      #expect(try await offline.thumbnails(for: request("a")).origin == .stale)
      #expect(offline.cached(request("a")) == nil)
    }
  }

  @Test func `An image that breaks the rules is not served from memory after its entry was read from disk`()
    async throws
  {
    let directory = try TemporaryDirectory()
    let first = pipeline { $0.cache.directory = directory.path("cache") }
    let digest = try await first.thumbnails(for: request("a")).digest
    await first.flush()
    let second = pipeline {
      $0.cache.directory = directory.path("cache")
      $0.content.rejectedDigests = [digest]
    }

    for _ in 0..<2 {
      let failure = await #expect(throws: FetchFailure.self) { try await second.thumbnails(for: request("a")) }
      #expect(failure?.code == .rejectedHash)
      #expect(second.cached(request("a")) == nil)
    }
  }

  @Test func `An asynchronous flush returns when everything is on disk`() async throws {
    let directory = try TemporaryDirectory()
    let pipeline = pipeline { $0.cache.directory = directory.path("cache") }
    _ = try await pipeline.thumbnails(for: request("a"))
    await pipeline.flush()

    #expect(pipeline.cache.counters.written == 1)
    let statistics = try CacheInspector(directory: directory.path("cache")).statistics(at: clock.now)
    #expect(statistics.thumbnails == 1)
  }
}
