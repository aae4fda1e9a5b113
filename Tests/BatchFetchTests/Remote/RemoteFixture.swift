import DownloadSupport
import Foundation
import ImageCache
import Synchronization
import TestSupport

@testable import BatchFetch
@testable import Downloads

/// A host of images, a remote cache, and machines that use both: each has its own cache directory.
struct RemoteFixture {
  let origin: LoopbackServer
  let remote: ObjectServer
  let directory: TemporaryDirectory

  init(_ handler: @escaping LoopbackServer.Handler = { _ in .image() }) throws {
    origin = try LoopbackServer(handler)
    remote = try ObjectServer()
    directory = try TemporaryDirectory()
  }

  /// A pipeline of a new run on the machine called `name`. Its remote cache has timeouts that are too long to expire on
  /// a busy machine.
  func machine(
    _ name: String, cache url: String? = nil, transport: CurlTransport.Configuration = .direct,
    names: HostResolution? = nil,
    clock: MovingDate = MovingDate(), change: (inout ThumbnailPipeline.Configuration) -> Void = { _ in }
  ) throws -> ThumbnailPipeline {
    var cache = try RemoteCache(url ?? remote.url, environment: [:])
    cache.connections = .direct
    // The hosts of the tests are on this machine.
    cache.allowsPrivateSources = true
    (cache.connectTimeout, cache.readTimeout, cache.writeTimeout) = (.seconds(600), .seconds(600), .seconds(600))
    var configuration = ThumbnailPipeline.Configuration(cacheDirectory: directory.path(name))
    configuration.remoteCache = cache
    configuration.downloads = .patient
    configuration.downloads.now = { clock.now }
    configuration.downloads.retry = RetryPolicy(limit: 0)
    change(&configuration)
    return ThumbnailPipeline(configuration, transport: CurlTransport(transport) { names ?? .system($0) })
  }

  /// A URL of the host under a name that only ``loopback`` resolves.
  func namedURL(_ path: String = "/a") -> String {
    origin.url(path).replacing("127.0.0.1", with: "images.example")
  }

  /// The address of the host, for every name.
  static let loopback = HostResolution.addresses([IPAddress("127.0.0.1")].compactMap(\.self))

  func request(_ path: String = "/a", size: Int = 16) -> ThumbnailRequest {
    ThumbnailRequest(url: origin.url(path), size: size)
  }

  /// Fetches an image on a machine, and waits until everything is uploaded.
  func fill(_ machine: ThumbnailPipeline, _ path: String = "/a") async throws {
    _ = try await machine.thumbnails(for: request(path))
    await machine.uploaded()
  }

  /// The paths of the objects with this prefix, such as `/cache/s/`.
  func objects(_ kind: String) -> [String] { remote.objects.keys.filter { $0.hasPrefix("/cache/\(kind)/") }.sorted() }
}

extension ThumbnailPipeline {
  /// Returns when everything is on disk and uploaded.
  func uploaded() async { await flush() }
}

/// A wall clock that a test moves.
final class MovingDate: Sendable {
  private let date = Mutex(Date())

  var now: Date { date.withLock { $0 } }

  func advance(by seconds: Double) { date.withLock { $0 += seconds } }
}
