import DownloadSupport
import Foundation
import HTTPTypes
import ImageCache
import Synchronization
import TestSupport
import Testing

@testable import BatchFetch

/// New sizes of images whose files the pipeline has kept in memory.
@Suite(.timeLimit(.minutes(10))) struct MemoryOriginalPipelineTests {
  /// A server of images that a test changes.
  private final class Server: Sendable {
    private let state = Mutex((seed: 0, control: "max-age=3600"))

    func change(seed: Int, control: String = "max-age=3600") { state.withLock { $0 = (seed, control) } }

    var response: [ScriptedTransport.Step] {
      let (seed, control) = state.withLock { $0 }
      return .response(
        SampleImage.png(width: 40, height: 30, seed: seed), fields: [.cacheControl: control, .eTag: "\"\(seed)\""])
    }
  }

  private let server: Server
  private let transport: ScriptedTransport
  private let clock = MovingDate()

  init() {
    let server = Server()
    self.server = server
    transport = ScriptedTransport { _, _ in server.response }
  }

  private func pipeline(_ limit: Int = 8 << 20, directory: String? = nil) -> ThumbnailPipeline {
    .prompt(over: transport) {
      $0.cache.directory = directory
      $0.cache.memoryOriginalByteLimit = limit
      $0.downloads.now = { [clock] in clock.now }
    }
  }

  private func load(_ size: Int, _ name: String = "a", on pipeline: ThumbnailPipeline) async throws -> ThumbnailSet {
    try await pipeline.thumbnails(for: ThumbnailRequest(url: "http://a.test/\(name)", size: size))
  }

  @Test func `A new size is rendered from the file in memory, without a request`() async throws {
    let pipeline = pipeline()
    let first = try await load(16, on: pipeline)
    for size in [8, 20, 30] {
      let set = try await load(size, on: pipeline)
      #expect(set.origin == .memory && set.httpStatus == nil && set.attempts == 0)
      #expect(set.thumbnails[0].size.width == size)
      #expect(set.digest == first.digest && set.source == first.source && set.sourceBytes == first.sourceBytes)
      #expect(set.freshUntil != nil && set.freshUntil == first.freshUntil)
    }

    #expect(transport.requests.count == 1 && pipeline.decodeCount == 4)
    let alone = try await load(20, on: self.pipeline(0))
    #expect(try await load(20, on: pipeline).thumbnails == alone.thumbnails)
  }

  @Test func `Without a limit for originals, which is the default, every new size is a request`() async throws {
    #expect(ThumbnailPipeline.Configuration().cache.memoryOriginalByteLimit == 0)
    let pipeline = pipeline(0)
    for size in [8, 16, 20] { #expect(try await load(size, on: pipeline).origin == .network) }
    #expect(transport.requests.count == 3)
  }

  @Test func `A file that memory does not keep is downloaded again`() async throws {
    let size = SampleImage.png(width: 40, height: 30).count
    let limit = 20 * (size + 256)
    let pipeline = pipeline(limit)
    for number in 0..<200 { _ = try await load(16, "\(number)", on: pipeline) }
    #expect(pipeline.cache.memoryUsage.sources == 200)

    var origins: [ThumbnailSet.Origin: Int] = [:]
    // A full cache keeps the first ones: nothing says that the others come back.
    for number in 0..<200 {
      origins[try await load(20, "\(number)", on: pipeline).origin, default: 0] += 1
    }
    #expect((1...20).contains(origins[.memory] ?? 0) && origins.keys.allSatisfy { [.memory, .network].contains($0) })
    #expect(transport.requests.count == 200 + (origins[.network] ?? 0))
  }

  @Test func `A source that has changed replaces the file`() async throws {
    let pipeline = pipeline()
    let old = try await load(16, on: pipeline)
    server.change(seed: 5)
    clock.advance(by: 3601)
    let new = try await load(16, on: pipeline)
    #expect(new.origin == .network && new.digest != old.digest)

    let size = try await load(20, on: pipeline)
    #expect(size.origin == .memory && size.digest == new.digest)
    #expect(transport.requests.count == 2)
  }

  @Test func `A stale source is requested for a new size`() async throws {
    let pipeline = pipeline()
    _ = try await load(16, on: pipeline)
    clock.advance(by: 3601)
    #expect(try await load(20, on: pipeline).origin == .network)
    #expect(transport.requests.count == 2)
  }

  @Test func `A response that must not be stored leaves no file in memory, even for a batch`() async throws {
    server.change(seed: 0, control: "no-store")
    let pipelines = [pipeline(), pipeline(0)]
    for pipeline in pipelines {
      _ = try await load(16, on: pipeline)
      var request = ThumbnailRequest(url: "http://a.test/a", size: 20)
      request.since = .now - .seconds(3600)
      #expect(try await pipeline.thumbnails(for: request).origin == .network)
    }
    // An array may have room for a few bytes more in one of them. A file would count 256 bytes besides its own.
    #expect(pipelines[0].cache.memoryUsage.bytes < pipelines[1].cache.memoryUsage.bytes + 256)
  }

  @Test func `Memory comes before the disk, which need not keep any originals`() async throws {
    let directory = try TemporaryDirectory()
    let first = pipeline(directory: directory.path("cache"))
    _ = try await load(16, on: first)
    #expect(try await load(20, on: first).origin == .memory)
    await first.flush()

    // Another process has both sizes, and no file.
    let second = pipeline(directory: directory.path("cache"))
    #expect(try await load(20, on: second).origin == .disk)
    #expect(try await load(30, on: second).origin == .network)
    #expect(transport.requests.count == 2)
  }
}
