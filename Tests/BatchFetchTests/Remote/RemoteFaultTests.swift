import DownloadSupport
import Foundation
import HTTPTypes
import ImageCache
import Synchronization
import TestSupport
import Testing

@testable import BatchFetch
@testable import Downloads

/// A faulty remote cache never changes the results.
@Suite(.timeLimit(.minutes(10))) struct RemoteFaultTests {
  /// Changes to an object that someone else, or a broken disk, may have made.
  enum Damage: CaseIterable {
    case garbage, empty, truncated, longer, flipped, otherObject, otherVersion, errorPage, huge

    func apply(to object: [UInt8], other: [UInt8]) -> [UInt8] {
      switch self {
      case .garbage: return (0..<object.count).map { UInt8(truncatingIfNeeded: $0 &* 167) }
      case .empty: return []
      case .truncated: return Array(object.dropLast(object.count / 2))
      case .longer: return object + [0]
      case .flipped:
        var object = object
        object[object.count / 2] ^= 1
        return object
      case .otherObject: return other
      case .otherVersion: return Array("thumbs-remote/9\n".utf8) + object.dropFirst(16)
      case .errorPage: return Array("<html>It works!</html>".utf8)
      case .huge: return [UInt8](repeating: 65, count: RemoteObjectCodec.maxThumbnailBytes + 1)
      }
    }
  }

  @Test(arguments: Damage.allCases, ["s", "t"])
  func `A damaged object gives the right bytes from the host, and is replaced`(damage: Damage, kind: String)
    async throws
  {
    let fixture = try RemoteFixture { request in .image(request.target == "/a" ? 1 : 2) }
    let first = try fixture.machine("one")
    let right = try await first.thumbnails(for: fixture.request())
    try await fixture.fill(first, "/b")
    let other = try fixture.remoteName(kind, of: "/b")
    let name = try fixture.remoteName(kind, of: "/a")
    let good = try #require(fixture.remote.objects[name])
    fixture.remote.objects[name] = damage.apply(to: good, other: try #require(fixture.remote.objects[other]))

    let second = try fixture.machine("two")
    let set = try await second.thumbnails(for: fixture.request())
    await second.uploaded()
    #expect(set.origin == .network && set.thumbnails == right.thumbnails)
    let counters = try #require(second.remoteCounters)
    // A body that is larger than any object, or empty, does not get as far as the checks.
    #expect(counters.rejected + counters.errors == 1 && counters.hits == 0 && counters.stored == 1)
    if damage != .huge {
      #expect(try await fixture.machine("three").thumbnails(for: fixture.request()).origin == .remote)
    }
  }

  @Test func `Machines with different keys, or without one, neither use nor replace each other's objects`()
    async throws
  {
    let fixture = try RemoteFixture { .image(Int($0.target.dropFirst()) ?? 0) }
    let keys = [nil, "a shared key of the machines", "another key of the machines"]
    for (round, origin) in [ThumbnailSet.Origin.network, .remote].enumerated() {
      for key in keys {
        let machine = try fixture.machine("\(key ?? "none") \(round)") {
          $0.remoteCache?.secret = key.flatMap { RemoteCache.Secret(Array($0.utf8)) }
        }
        for number in 0..<8 {
          #expect(try await machine.thumbnails(for: fixture.request("/\(number)")).origin == origin)
        }
        await machine.uploaded()
        #expect(machine.remoteCounters?.rejected == 0 && machine.remoteCounters?.skipped == 0)
      }
    }
    #expect(fixture.origin.requests.count == 3 * 8 && fixture.remote.requests("PUT").count == 3 * 8 * 2)
  }

  @Test func `Unusable objects do not switch off the remote cache`() async throws {
    let fixture = try RemoteFixture { .image(Int($0.target.dropFirst()) ?? 0) }
    let garbage = Array("<html>It works!</html>".utf8)
    fixture.remote.setFault { $0.method == "GET" && !$0.target.isEmpty ? .http(200, [:], garbage) : nil }
    let machine = try fixture.machine("one") { $0.downloads.clock = ManualClock() }
    for number in 0..<20 {
      #expect(try await machine.thumbnails(for: fixture.request("/\(number)")).origin == .network)
    }
    #expect(machine.remoteCounters?.rejected == 20)
  }

  @Test func `After uploads are dropped, those that run end, and none begins`() async throws {
    let fixture = try RemoteFixture { .image(Int($0.target.dropFirst()) ?? 0) }
    // Waits until the client closes the connection.
    fixture.remote.setFault { $0.method == "PUT" ? ServerReply([.receive]) : nil }
    let machine = try fixture.machine("one")
    _ = try await machine.thumbnails(for: fixture.request("/1"))
    await fixture.remote.server.waitForRequests(2)
    machine.dropUploads()
    await fixture.remote.server.waitForClosedConnections(1)
    _ = try await machine.thumbnails(for: fixture.request("/2"))
    await machine.uploaded()
    #expect(machine.remoteCounters?.dropped == 2 && fixture.remote.requests("PUT").count == 1)
  }

  @Test(arguments: [301, 400, 401, 403, 429, 500, 503, 507])
  func `After five error responses in a row, the remote cache is skipped, and nothing else changes`(status: Int)
    async throws
  {
    let fixture = try RemoteFixture { .image(Int($0.target.dropFirst()) ?? 0) }
    fixture.remote.setFault { _ in .http(status, ["Location": "/elsewhere", "Retry-After": "100"]) }
    let machine = try fixture.machine("one")
    for number in 0..<20 {
      #expect(try await machine.thumbnails(for: fixture.request("/\(number)")).origin == .network)
    }
    await machine.uploaded()
    let counters = try #require(machine.remoteCounters)
    #expect(counters.errors == 5 && counters.skipped == 15 && counters.failed + counters.dropped == 20)
    #expect(fixture.remote.requests("GET").count == 5)
    #expect(fixture.remote.server.requests.allSatisfy { $0.target.hasPrefix("/cache/") })
  }

  @Test func `A full remote cache is still read`() async throws {
    let fixture = try RemoteFixture { .image(Int($0.target.dropFirst()) ?? 0) }
    try await fixture.fill(try fixture.machine("one"), "/1")
    fixture.remote.setFault { $0.method == "PUT" ? .http(507) : nil }
    let machine = try fixture.machine("two")
    for number in 2..<12 { _ = try await machine.thumbnails(for: fixture.request("/\(number)")) }
    await machine.uploaded()
    #expect(try await machine.thumbnails(for: fixture.request("/1")).origin == .remote)
    let counters = try #require(machine.remoteCounters)
    #expect(counters.failed + counters.dropped == 10 && counters.failed >= 5 && counters.errors == 0)
  }

  @Test func `A server that does not respond costs one timeout for the requests that have begun, and no more`()
    async throws
  {
    let gate = Gate()
    defer { gate.open() }
    let fixture = try RemoteFixture { .image(Int($0.target.dropFirst()) ?? 0) }
    fixture.remote.setFault { _ in .http(200).after(gate) }
    // The clock stands still, so that no slow machine ends the pause of the breaker, or makes lookups cost more.
    let machine = try fixture.machine("one") {
      $0.downloads.clock = ManualClock()
      $0.remoteCache?.readTimeout = .milliseconds(200)
      $0.remoteCache?.access = .readOnly
    }
    try await withThrowingTaskGroup { group in
      for number in 0..<100 {
        group.addTask { try await machine.thumbnails(for: fixture.request("/\(number)")).origin }
      }
      for try await origin in group { #expect(origin == .network) }
    }
    let counters = try #require(machine.remoteCounters)
    #expect((5...21).contains(counters.timeouts) && counters.timeouts + counters.skipped == 100)
  }

  @Test func `A server that drips counts as one that does not respond`() async throws {
    let fixture = try RemoteFixture { .image(Int($0.target.dropFirst()) ?? 0) }
    fixture.remote.setFault { _ in
      ServerReply([.send(ServerReply.head(200, ["Content-Length": "1000"])), .drip(.milliseconds(20))])
    }
    let machine = try fixture.machine("one") {
      $0.downloads.clock = ManualClock()
      $0.remoteCache?.readTimeout = .milliseconds(200)
      $0.remoteCache?.access = .readOnly
    }
    for number in 0..<8 {
      #expect(try await machine.thumbnails(for: fixture.request("/\(number)")).origin == .network)
    }
    let counters = try #require(machine.remoteCounters)
    #expect(counters.timeouts == 5 && counters.skipped == 3)
  }

  @Test func `A server that dies between good responses costs only the rest of the hits`() async throws {
    let fixture = try RemoteFixture { .image(Int($0.target.dropFirst()) ?? 0) }
    let first = try fixture.machine("one")
    for number in 0..<40 { _ = try await first.thumbnails(for: fixture.request("/\(number)")) }
    await first.uploaded()
    let second = try fixture.machine("two")
    for number in 0..<40 {
      if number == 20 { fixture.remote.server.stop() }
      let set = try await second.thumbnails(for: fixture.request("/\(number)"))
      #expect(set.origin == (number < 20 ? .remote : .network))
    }
    await second.uploaded()
    let counters = try #require(second.remoteCounters)
    #expect(counters.hits == 20 && counters.errors == 5 && counters.skipped == 15 && counters.stored == 0)
  }

  @Test func `A flush ends when no upload has ended for two seconds, and drops the rest`() async throws {
    let gate = Gate()
    defer { gate.open() }
    let fixture = try RemoteFixture { .image(Int($0.target.dropFirst()) ?? 0) }
    fixture.remote.setFault { $0.method == "PUT" ? .http(201).after(gate) : nil }
    let machine = try fixture.machine("one")
    for number in 0..<10 { _ = try await machine.thumbnails(for: fixture.request("/\(number)")) }
    await machine.uploaded()
    #expect(machine.remoteCounters?.dropped == 10 && machine.remoteCounters?.stored == 0)
  }

  @Test func `Uploads beyond the limit in bytes are dropped and counted`() async throws {
    let fixture = try RemoteFixture { .image(Int($0.target.dropFirst()) ?? 0) }
    let machine = try fixture.machine("one") { $0.remoteCache?.maxPendingBytes = 0 }
    for number in 0..<3 { try await fixture.fill(machine, "/\(number)") }
    #expect(machine.remoteCounters?.dropped == 3 && fixture.remote.requests("PUT").isEmpty)
  }

  @Test func `A request that is canceled during its lookup ends, and its lookup with it`() async throws {
    let fixture = try RemoteFixture()
    // Waits until the client closes the connection.
    fixture.remote.setFault { _ in ServerReply([.receive]) }
    let machine = try fixture.machine("one")
    let outcomes = Recorder<Result<ThumbnailSet, FetchFailure>>()
    let token = machine.load(fixture.request()) { outcomes.record($0) }
    await fixture.remote.server.waitForRequests(1)
    token.cancel()
    #expect(await outcomes.values(count: 1).first?.failure?.code == .cancelled)
    await fixture.remote.server.waitForClosedConnections(1)
    #expect(fixture.origin.requests.isEmpty && machine.runningCount == 0)
  }
}

extension RemoteFixture {
  /// Returns the path of the object of this kind that belongs to `path` on the host.
  fileprivate func remoteName(_ kind: String, of path: String) throws -> String {
    let codec = RemoteObjectCodec(secret: nil, space: "private")
    let key = SourceKey(url: origin.url(path))
    let object = "/cache/\(codec.name(of: key))"
    guard kind == "t" else { return object }
    let bytes = try #require(remote.objects[object])
    let digest = try #require(codec.source(in: bytes, key: key, url: origin.url(path))?.digest)
    return "/cache/\(codec.name(of: ThumbnailSpec(width: 16), from: digest))"
  }
}
