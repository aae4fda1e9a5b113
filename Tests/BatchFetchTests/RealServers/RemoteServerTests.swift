import DownloadSupport
import Foundation
import HTTPTypes
import ImageCache
import TestSupport
import Testing

@testable import BatchFetch

/// A remote cache on nginx with its DAV module, and on a server that recomputes the signatures of S3.
@Suite(.timeLimit(.minutes(10)), .needs(.store), .needs(.s3)) struct RemoteServerTests {
  private static let s3Environment = [
    "AWS_ACCESS_KEY_ID": "AKIDPERMANENT", "AWS_SECRET_ACCESS_KEY": "permanent/secret+key",
    "AWS_REGION": "test-region-1",
  ]

  /// Creates the settings of a cache below a new directory of nginx.
  private static func nginx(_ directory: String = "", credentials: String = "") throws -> RemoteCache {
    let url = try RealServers.url(.store, "/\(directory)\(UUID().uuidString)/")
    return try RemoteCache(url.replacing("http://", with: "http://\(credentials)"), environment: [:])
  }

  private static func s3(_ prefix: String, _ changes: [String: String] = [:]) throws -> RemoteCache {
    let endpoint = try RealServers.url(.s3)
    return try RemoteCache(
      "s3://bucket-1/\(prefix)?endpoint=\(endpoint)", environment: s3Environment.merging(changes) { $1 })
  }

  private static func machine(_ fixture: RemoteFixture, _ name: String, _ cache: RemoteCache) throws
    -> ThumbnailPipeline
  {
    try fixture.machine(name) {
      var cache = cache
      cache.connections.proxies = .none
      cache.allowsPrivateSources = true
      (cache.connectTimeout, cache.readTimeout, cache.writeTimeout) = (.seconds(600), .seconds(600), .seconds(600))
      $0.remoteCache = cache
    }
  }

  /// Fetches 30 images on one machine and then on another one, and checks that the second one needs no request.
  private static func share(over cache: RemoteCache) async throws {
    let fixture = try RemoteFixture { .image(Int($0.target.dropFirst()) ?? 0) }
    var sets: [[ThumbnailSet]] = []
    for name in ["one", "two"] {
      let machine = try machine(fixture, name, cache)
      sets.append([])
      for number in 0..<30 {
        let specs = [ThumbnailSpec(width: 16), ThumbnailSpec(width: 24)]
        let request = ThumbnailRequest(url: fixture.origin.url("/\(number)"), specs: specs)
        sets[sets.count - 1].append(try await machine.thumbnails(for: request))
      }
      await machine.uploaded()
      let counters = try #require(machine.remoteCounters)
      #expect(counters.errors + counters.timeouts + counters.failed + counters.dropped == 0)
      #expect(counters.stored == (name == "one" ? 30 : 0) && counters.hits == (name == "one" ? 0 : 30))
    }
    #expect(fixture.origin.requests.count == 30)
    #expect(sets[1].allSatisfy { $0.origin == .remote })
    #expect(sets[0].map(\.thumbnails) == sets[1].map(\.thumbnails))
  }

  @Test func `Two machines share a directory of nginx`() async throws { try await Self.share(over: Self.nginx()) }

  @Test func `Two machines share a directory of nginx with a key and a password`() async throws {
    var cache = try Self.nginx("private/", credentials: "thumbs:secret@")
    cache.secret = RemoteCache.Secret(Array("a key of at least 16 bytes".utf8))
    try await Self.share(over: cache)
  }

  @Test func `The password for nginx may be in a file of credentials`() async throws {
    let directory = try TemporaryDirectory()
    var cache = try Self.nginx("private/")
    cache.connections.netrc = try directory.write("machine 127.0.0.1 login thumbs password secret", as: "netrc")
    try await Self.share(over: cache)
  }

  @Test func `Two machines share a bucket, and every request is signed correctly`() async throws {
    let prefix = "prefix-1/\(UUID().uuidString)"
    try await Self.share(over: Self.s3(prefix))

    let log = try String(contentsOfFile: RealServers.url(.s3Log), encoding: .utf8).split(separator: "\n")
    let own = log.filter { $0.contains("/bucket-1/\(prefix)/") }
    #expect(own.count >= 30 * 3 * 2 && own.allSatisfy { !$0.contains(" 403 ") })
  }

  @Test func `Temporary credentials send their signed session token`() async throws {
    let keys = ["AWS_ACCESS_KEY_ID": "ASIATEMPORARY", "AWS_SECRET_ACCESS_KEY": "temporary/secret+key"]
    let prefix = UUID().uuidString
    try await Self.share(over: Self.s3(prefix, keys.merging(["AWS_SESSION_TOKEN": "a/token+of=="]) { $1 }))
  }

  @Test(arguments: [
    ["AWS_SECRET_ACCESS_KEY": "wrong"], ["AWS_ACCESS_KEY_ID": "AKIDUNKNOWN"], ["AWS_REGION": "other-region"],
    ["AWS_SESSION_TOKEN": "a/token+of=="],
  ])
  func `With wrong credentials, everything comes from the host`(changes: [String: String]) async throws {
    let fixture = try RemoteFixture { .image(Int($0.target.dropFirst()) ?? 0) }
    let machine = try Self.machine(fixture, "one", try Self.s3(UUID().uuidString, changes))
    for number in 0..<10 {
      #expect(try await machine.thumbnails(for: fixture.request("/\(number)")).origin == .network)
    }
    await machine.uploaded()
    let counters = try #require(machine.remoteCounters)
    #expect(counters.errors == 5 && counters.skipped == 5 && counters.stored == 0)
  }

  @Test func `An object of three megabytes is uploaded without waiting for the permission of the server`() async throws
  {
    for cache in [try Self.nginx(), try Self.s3(UUID().uuidString)] {
      let store = RemoteClient(cache, transport: CurlTransport(.direct), now: { .zero })
      var generator = SeededGenerator(seed: 1)
      let bytes = (0..<(3 << 20)).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
      let results = Recorder<RemoteResult<[UInt8]>>()
      _ = store.put(RemoteObject(name: "t/r0/00/0", bytes: bytes, condition: .absent)) { problem in
        #expect(problem == nil)
        _ = store.get("t/r0/00/0", maxBytes: 4 << 20, .normal) {
          $0
        } completion: {
          results.record($0)
        }
      }
      guard case .found(let read)? = await results.values(count: 1).first else {
        Issue.record("The object was not found.")
        continue
      }
      #expect(read == bytes)
    }
  }
}
