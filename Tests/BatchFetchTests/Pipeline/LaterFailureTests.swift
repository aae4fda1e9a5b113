import Foundation
import HTTPTypes
import ImageCache
import Synchronization
import TestSupport
import Testing

@testable import BatchFetch

/// Failures of a source that had an image before.
@Suite(.timeLimit(.minutes(10))) struct LaterFailureTests {
  private static let later: @Sendable () -> Date = { Date(timeIntervalSinceNow: 7200) }

  /// A server that has an image first, and later the reply that a test sets.
  private final class Server: Sendable {
    private let reply = Mutex(ServerReply.image(fields: ["Cache-Control": "max-age=3600", "ETag": "\"1\""]))
    func become(_ new: ServerReply) { reply.withLock { $0 = new } }
    var now: ServerReply { reply.withLock { $0 } }
  }

  private static func page(_ fields: [String: String]) -> ServerReply {
    .http(200, fields, Array("<html><title>Back soon</title></html>".utf8))
  }

  private static let damaged: [UInt8] = {
    var bytes = SampleImage.png(width: 60, height: 40)
    bytes[bytes.count / 2] ^= 0xff
    return bytes
  }()

  private func fixture(_ server: Server) throws -> PipelineFixture {
    try PipelineFixture { $0.target == "/good" ? .image(7) : server.now }
  }

  private func load(
    _ fixture: PipelineFixture, size: Int = 16, mode: CacheMode = .normal, now: @escaping @Sendable () -> Date = later
  ) async throws -> ThumbnailSet {
    let pipeline = fixture.pipeline(mode: mode, now: now)
    defer { pipeline.flush() }
    return try await pipeline.thumbnails(for: fixture.request("/a", size: size))
  }

  static let useless: [(name: String, reply: ServerReply)] = [
    ("a page", page([:])), ("a fresh page", page(["Cache-Control": "max-age=600"])),
    ("a page that may not be stored", page(["Cache-Control": "no-store"])),
    ("damage", .http(200, [:], damaged)),
    ("missing, but not for long", .http(404, ["Cache-Control": "no-cache"])),
  ]

  @Test(arguments: useless.indices)
  func `A failure that is not final leaves the image on disk`(index: Int) async throws {
    let server = Server()
    let fixture = try fixture(server)
    let image = try await load(fixture, now: { Date() })

    server.become(Self.useless[index].reply)
    for size in [16, 20] {
      await #expect(throws: FetchFailure.self) { try await load(fixture, size: size) }
      #expect(try await load(fixture, mode: .offline).thumbnails == image.thumbnails)
    }
    server.become(.http(503))
    let stale = try await load(fixture)
    #expect(stale.origin == .stale && stale.thumbnails == image.thumbnails)

    server.become(.http(304, ["ETag": "\"1\""]))
    #expect(try await load(fixture).origin == .revalidated)
  }

  @Test(arguments: [404, 410])
  func `A 404 or 410 replaces the image`(status: Int) async throws {
    let server = Server()
    let fixture = try fixture(server)

    _ = try await load(fixture, now: { Date() })
    server.become(.http(status))
    await #expect(throws: FetchFailure.self) { try await load(fixture) }

    let failure = await #expect(throws: FetchFailure.self) { try await load(fixture, mode: .offline) }
    #expect(failure?.code == .http(status))
  }

  @Test func `One process makes one request per batch, and serves the image when the server fails`() async throws {
    let server = Server()
    let fixture = try fixture(server)
    let image = try await load(fixture, now: { Date() })

    server.become(Self.page([:]))
    let pipeline = fixture.pipeline(now: Self.later)
    var request = fixture.request("/a")
    request.since = .now
    for _ in 0..<3 {
      let again = request
      let failure = await #expect(throws: FetchFailure.self) { try await pipeline.thumbnails(for: again) }
      #expect(failure?.code == .image(.notAnImage))
    }
    #expect(fixture.server.requests.count == 2)

    server.become(.http(503))
    request.since = .now
    let stale = try await pipeline.thumbnails(for: request)
    #expect(stale.origin == .stale && stale.thumbnails == image.thumbnails)

    server.become(.image(2))
    request.since = .now
    #expect(try await pipeline.thumbnails(for: request).origin == .network)
    #expect(try await pipeline.thumbnails(for: request).origin == .memory)
  }

  @Test func `A failure without an earlier image is kept, and its bytes are not decoded again`() async throws {
    let server = Server()
    server.become(.http(200, [:], Self.damaged))
    let fixture = try fixture(server)
    await #expect(throws: FetchFailure.self) { try await load(fixture) }

    let second = fixture.pipeline()
    await #expect(throws: FetchFailure.self) { try await second.thumbnails(for: fixture.request("/a")) }
    #expect(second.decodeCount == 0)
  }
}
