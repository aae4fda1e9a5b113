import Foundation
import HTTPTypes
import ImageCache
import TestSupport
import Testing

@testable import BatchFetch
@testable import Downloads

/// Machines that share a remote cache.
@Suite(.timeLimit(.minutes(10))) struct RemoteCacheTests {
  @Test func `What one machine has fetched, another gets from the remote cache, and then from its own disk`()
    async throws
  {
    let fixture = try RemoteFixture()
    let first = try fixture.machine("one")
    let fetched = try await first.thumbnails(for: fixture.request())
    await first.uploaded()
    #expect(fetched.origin == .network && first.remoteCounters?.misses == 1 && first.remoteCounters?.stored == 1)
    #expect(fixture.objects("s").count == 1 && fixture.objects("t").count == 1)

    let second = try fixture.machine("two")
    let shared = try await second.thumbnails(for: fixture.request())
    #expect(shared.origin == .remote && shared.thumbnails == fetched.thumbnails && shared.source == fetched.source)
    #expect(shared.attempts == 0 && second.remoteCounters?.hits == 1)
    await second.uploaded()
    #expect(try await second.thumbnails(for: fixture.request()).origin == .memory)
    #expect(try await fixture.machine("two").thumbnails(for: fixture.request()).origin == .disk)
    #expect(fixture.origin.requests.count == 1)
    // Responses from the remote cache are not uploaded again.
    #expect(fixture.remote.requests("PUT").count == 2 && fixture.remote.requests("GET").count == 3)
  }

  @Test func `Thumbnails are uploaded before their source and only if they are absent`() async throws {
    let fixture = try RemoteFixture()
    try await fixture.fill(try fixture.machine("one"))

    let puts = fixture.remote.requests("PUT")
    #expect(puts.map { $0.target.hasPrefix("/cache/t/") } == [true, false])
    #expect(puts.map { $0.fields["if-none-match"] } == ["*", nil])
  }

  @Test func `A size that the remote cache lacks is a miss, and the next machine finds both sizes`() async throws {
    let fixture = try RemoteFixture()
    try await fixture.fill(try fixture.machine("one"))
    let second = try fixture.machine("two")
    #expect(try await second.thumbnails(for: fixture.request(size: 20)).origin == .network)
    await second.uploaded()
    #expect(second.remoteCounters?.misses == 1)

    let both = ThumbnailRequest(
      url: fixture.origin.url("/a"), specs: [ThumbnailSpec(width: 16), ThumbnailSpec(width: 20)])
    let set = try await fixture.machine("three").thumbnails(for: both)
    #expect(set.origin == .remote && set.thumbnails.map(\.size.width) == [16, 20])
    #expect(fixture.origin.requests.count == 2)
  }

  @Test func `A size that a fresh local source lacks comes from the remote cache`() async throws {
    let fixture = try RemoteFixture()
    let first = try fixture.machine("one")
    try await fixture.fill(first)
    let second = try fixture.machine("two")
    _ = try await second.thumbnails(for: fixture.request(size: 20))
    await second.uploaded()

    let set = try await first.thumbnails(for: fixture.request(size: 20))
    #expect(set.origin == .remote && set.thumbnails.map(\.size.width) == [20])
    #expect(fixture.origin.requests.count == 2)
  }

  @Test func `A missing thumbnail object is a miss and is uploaded again`() async throws {
    let fixture = try RemoteFixture()
    try await fixture.fill(try fixture.machine("one"))
    let thumbnail = try #require(fixture.objects("t").first)
    fixture.remote.objects[thumbnail] = nil

    let second = try fixture.machine("two")
    #expect(try await second.thumbnails(for: fixture.request()).origin == .network)
    await second.uploaded()
    #expect(fixture.objects("t") == [thumbnail] && second.remoteCounters?.misses == 1)
  }

  @Test func `A size that a caller adds during the download is uploaded as well`() async throws {
    let gate = Gate()
    let count = Counter()
    let fixture = try RemoteFixture { _ in count.next() == 2 ? .image().after(gate) : .image() }
    try await fixture.fill(try fixture.machine("one"))
    let thumbnail = try #require(fixture.objects("t").first)
    fixture.remote.objects[thumbnail] = nil

    let second = try fixture.machine("two")
    let sets = Recorder<Result<ThumbnailSet, FetchFailure>>()
    second.load(fixture.request()) { sets.record($0) }
    await fixture.origin.waitForRequests(2)
    second.load(fixture.request(size: 20)) { sets.record($0) }
    gate.open()
    _ = await sets.values(count: 2)
    await second.uploaded()
    #expect(fixture.origin.requests.count == 2 && fixture.objects("t").count == 2)
  }

  @Test func `A stale image of the remote cache is revalidated, and its source uploaded again without thumbnails`()
    async throws
  {
    let fixture = try RemoteFixture { request in
      request.fields["if-none-match"] == "\"v1\""
        ? .http(304, ["Cache-Control": "max-age=3600"])
        : .image(fields: ["Cache-Control": "max-age=0", "ETag": "\"v1\""])
    }
    try await fixture.fill(try fixture.machine("one"))
    let second = try fixture.machine("two")

    let set = try await second.thumbnails(for: fixture.request())
    await second.uploaded()
    #expect(set.origin == .revalidated && set.thumbnails.count == 1)
    #expect(fixture.remote.requests("PUT").map { $0.target.contains("/s/") } == [false, true, true])
    #expect(try await fixture.machine("three").thumbnails(for: fixture.request()).origin == .remote)
    #expect(try await fixture.machine("two").thumbnails(for: fixture.request()).origin == .disk)
    #expect(fixture.origin.requests.count == 2)
  }

  @Test func `A fresh source of the remote cache makes a stale local image fresh again, without its thumbnails`()
    async throws
  {
    let clock = MovingDate()
    let fixture = try RemoteFixture { request in
      request.fields["if-none-match"] != nil
        ? .http(304, ["Cache-Control": "max-age=60"])
        : .image(fields: ["Cache-Control": "max-age=60", "ETag": "\"v1\""])
    }
    for name in ["one", "two"] { try await fixture.fill(try fixture.machine(name, clock: clock)) }
    clock.advance(by: 100)
    try await fixture.fill(try fixture.machine("one", clock: clock))
    let count = fixture.remote.requests("GET").count

    let set = try await fixture.machine("two", clock: clock).thumbnails(for: fixture.request())
    #expect(set.origin == .remote)
    #expect(fixture.remote.requests("GET").dropFirst(count).map(\.target) == fixture.objects("s"))
    #expect(fixture.origin.requests.count == 2)
  }

  @Test func `A failure that follows from the bytes is shared, and a 404 is not`() async throws {
    let fixture = try RemoteFixture { request in
      request.target == "/missing"
        ? .http(404, ["Cache-Control": "max-age=3600"])
        : .http(200, ["Cache-Control": "max-age=3600"], Array("<html>no image</html>".utf8))
    }
    for name in ["one", "two"] {
      let machine = try fixture.machine(name)
      for (path, code) in [("/page", FailureCode.image(.notAnImage)), ("/missing", .http(404))] {
        let failure = await #expect(throws: FetchFailure.self) {
          try await machine.thumbnails(for: fixture.request(path))
        }
        #expect(failure?.code == code)
      }
      await machine.uploaded()
    }
    #expect(fixture.origin.requests.map(\.target) == ["/page", "/missing", "/missing"])
    #expect(fixture.objects("s").count == 1 && fixture.objects("t").isEmpty)
  }

  @Test func `A damaged image that one machine could not decode is not requested by another`() async throws {
    let fixture = try RemoteFixture { _ in
      var file = SampleImage.png(width: 40, height: 30)
      for index in 60..<file.count - 20 { file[index] = 0xA5 }
      return .http(200, ["Cache-Control": "max-age=3600"], file)
    }
    for name in ["one", "two"] {
      let machine = try fixture.machine(name)
      let failure = await #expect(throws: FetchFailure.self) { try await machine.thumbnails(for: fixture.request()) }
      #expect(failure?.code == .image(.decodeError))
      await machine.uploaded()
    }
    #expect(fixture.origin.requests.count == 1 && fixture.objects("s").count == 1)
  }

  @Test func `A read-only machine uploads nothing`() async throws {
    let fixture = try RemoteFixture()
    let machine = try fixture.machine("one") { $0.remoteCache?.access = .readOnly }
    try await fixture.fill(machine)
    #expect(fixture.remote.requests("PUT").isEmpty && fixture.remote.requests("GET").count == 1)
    #expect(machine.remoteCounters?.stored == 0 && machine.remoteCounters?.dropped == 0)
  }

  @Test func `Offline, no request is sent to the remote cache`() async throws {
    let fixture = try RemoteFixture()
    try await fixture.fill(try fixture.machine("one"))
    let offline = try fixture.machine("two") { $0.cacheMode = .offline }
    let count = fixture.remote.server.requests.count
    let failure = await #expect(throws: FetchFailure.self) { try await offline.thumbnails(for: fixture.request()) }
    #expect(failure?.code == .offlineMiss && fixture.remote.server.requests.count == count)
  }

  @Test func `With refresh, an image of the remote cache is confirmed by its host before it is served`() async throws {
    let fixture = try RemoteFixture { request in
      request.fields["if-none-match"] != nil
        ? .http(304) : .image(fields: ["Cache-Control": "max-age=3600", "ETag": "\"v1\""])
    }
    try await fixture.fill(try fixture.machine("one"))
    let second = try fixture.machine("two") { $0.cacheMode = .refresh }
    #expect(try await second.thumbnails(for: fixture.request()).origin == .revalidated)
    #expect(fixture.origin.requests.count == 2)
  }
}
