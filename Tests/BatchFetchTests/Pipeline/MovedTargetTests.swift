import Foundation
import HTTPTypes
import ImageCache
import Synchronization
import TestSupport
import Testing

@testable import BatchFetch

/// Sources whose redirects change.
@Suite(.timeLimit(.minutes(10))) struct MovedTargetTests {
  /// The target of the redirect at `/a`, with its status and fields.
  private final class Place: Sendable {
    private let value: Mutex<(target: String, status: Int, fields: [String: String])>
    init(_ target: String, _ status: Int = 302, _ fields: [String: String] = [:]) {
      value = Mutex((target, status, fields))
    }
    func move(to target: String) { value.withLock { $0.target = target } }
    var reply: ServerReply {
      let (target, status, fields) = value.withLock { $0 }
      return .http(status, fields.merging(["Location": target]) { $1 })
    }
  }

  /// A server with two versions of an image, of which the second is the older file, and with `/other`, which never
  /// changes.
  private func fixture(_ place: Place) throws -> PipelineFixture {
    let changed = ["/v1": "Sun, 09 Nov 2025 08:00:00 GMT", "/v2": "Sun, 09 Nov 2014 08:00:00 GMT"]
    return try PipelineFixture { request in
      guard let date = changed[request.target] else { return request.target == "/a" ? place.reply : .image(9) }
      // Like nginx with "if_modified_since before", and many others: a file that is no newer is not sent.
      if request.fields["if-modified-since"] != nil { return .http(304, ["Last-Modified": date]) }
      return .image(
        request.target == "/v1" ? 1 : 2, fields: ["Last-Modified": date, "Cache-Control": "max-age=3600"])
    }
  }

  private func load(
    _ fixture: PipelineFixture, _ path: String = "/a", mode: CacheMode = .normal, after seconds: Double = 0
  ) async throws -> ThumbnailSet {
    let pipeline = fixture.pipeline(mode: mode, now: { Date.now + seconds })
    let set = try await pipeline.thumbnails(for: fixture.request(path))
    await pipeline.flush()
    return set
  }

  @Test(arguments: [302, 303, 307], [true, false])
  func `A temporary redirect is requested again in each run, and its target only if it is stale`(
    status: Int, isFresh: Bool
  ) async throws {
    let fixture = try fixture(Place("/v1", status))
    let (first, other) = (try await load(fixture), try await load(fixture, "/other"))
    let second = try await load(fixture, after: isFresh ? 0 : 4000)

    #expect(second.origin == .revalidated && second.thumbnails == first.thumbnails)
    #expect(
      fixture.server.requests.map(\.target) == ["/a", "/v1", "/other", "/a"] + (isFresh ? [] : ["/v1"]))
    #expect(try await load(fixture, "/other").origin == .disk && other.origin == .network)
  }

  @Test(arguments: [(302, ["Cache-Control": "max-age=600"]), (301, [:]), (308, [:])])
  func `A fresh redirect is not requested again`(status: Int, fields: [String: String]) async throws {
    let fixture = try fixture(Place("/v1", status, fields))
    _ = try await load(fixture)

    #expect(try await load(fixture).origin == .disk)
    #expect(fixture.server.requests.count == 2)
  }

  @Test(arguments: ["no-cache", "max-age=0", "no-store"])
  func `A redirect that must not be reused is requested again, however fresh its target is`(control: String)
    async throws
  {
    let place = Place("/v1", 301, ["Cache-Control": control])
    let fixture = try fixture(place)
    let old = try await load(fixture)

    place.move(to: "/v2")
    let new = try await load(fixture)

    #expect(new.origin == .network && new.thumbnails != old.thumbnails)
  }

  @Test(arguments: ["no-cache", "max-age=0", "no-store"])
  func `A redirect that must not be reused leads to the thumbnails of an unchanged target`(control: String)
    async throws
  {
    let fixture = try fixture(Place("/v1", 302, ["Cache-Control": control]))
    let old = try await load(fixture)

    let new = try await load(fixture)

    #expect(new.origin == .revalidated && new.thumbnails == old.thumbnails)
    #expect(fixture.server.requests.map(\.target) == ["/a", "/v1", "/a"])
  }

  @Test(arguments: [CacheMode.normal, .refresh])
  func `A 304 of another target confirms nothing, and the new target is fetched`(mode: CacheMode) async throws {
    let place = Place("/v1")
    let fixture = try fixture(place)
    let old = try await load(fixture)

    place.move(to: "/v2")
    let new = try await load(fixture, mode: mode)

    #expect(new.origin == .network && new.finalURL == fixture.server.url("/v2"))
    #expect(new.thumbnails != old.thumbnails)
    #expect(fixture.server.requests.suffix(4).map(\.target) == ["/a", "/v2", "/a", "/v2"])
    #expect(fixture.server.requests.suffix(2).allSatisfy { $0.fields["if-modified-since"] == nil })
    #expect(try await load(fixture).thumbnails == new.thumbnails)
  }

  @Test func `A 304 of a source that no longer redirects confirms nothing`() async throws {
    let isMoved = Mutex(true)
    let fixture = try PipelineFixture { request in
      if request.target == "/a", isMoved.withLock({ $0 }) { return .http(302, ["Location": "/v1"]) }
      if request.fields["if-none-match"] != nil { return .http(304, ["ETag": "\"1\""]) }
      return .image(request.target == "/a" ? 1 : 2, fields: ["ETag": "\"1\""])
    }
    let old = try await load(fixture)

    isMoved.withLock { $0 = false }
    let new = try await load(fixture)

    #expect(new.origin == .network && new.finalURL == nil && new.thumbnails != old.thumbnails)
  }

  @Test func `An image missing behind a temporary redirect is requested again`() async throws {
    let place = Place("/gone")
    let fixture = try PipelineFixture { request in
      request.target == "/a" ? place.reply : request.target == "/gone" ? .http(404) : .image()
    }
    await #expect(throws: FetchFailure.self) { try await load(fixture) }

    place.move(to: "/v1")
    #expect(try await load(fixture).origin == .network)
  }
}
