import Foundation
import Testing

@testable import ImageCache

@Suite("Failures after an image was stored")
struct UselessFailureTests {
  private typealias Fixtures = CacheFixtures
  private let directory: CachePlace

  init() throws { directory = try CachePlace() }

  private static let undecodable = StoredSource.Content.failure(
    code: "not_an_image", message: "It is a web page.", digest: BodyDigest(of: [1]))

  private static func failure(_ status: Int, _ cacheControl: String, _ content: StoredSource.Content) -> StoredSource {
    StoredSource(
      url: Fixtures.url(1), status: status, policy: Fixtures.policy(cacheControl, status: status), content: content)
  }

  static let useless = [
    failure(200, "max-age=60", undecodable), failure(200, "", undecodable), failure(200, "no-store", undecodable),
    failure(404, "no-store", .failure(code: "http_404", message: "Missing.")),
    failure(404, "max-age=0", .failure(code: "http_404", message: "Missing.")),
    failure(503, "max-age=60", .failure(code: "http_5xx", message: "Maintenance.")),
  ]

  private func entry(in cache: ThumbnailCache) -> CacheEntry? {
    cache.entry(for: Fixtures.key(1), url: Fixtures.url(1), specs: [Fixtures.spec])
  }

  /// The memory tier of these caches keeps nothing, as if it were full of other sources.
  @Test(arguments: useless)
  func `A useless failure does not replace an image on disk that memory does not know`(failure: StoredSource) {
    do {
      let cache = ThumbnailCache(diskAt: directory.path)
      cache.store(Fixtures.source(1), thumbnails: [Fixtures.thumbnail(1)], for: Fixtures.key(1))
    }
    let cache = ThumbnailCache(diskAt: directory.path)
    cache.store(failure, thumbnails: [], for: Fixtures.key(1))

    let staged = entry(in: cache)
    #expect(staged?.source == Fixtures.source(1))
    #expect(staged?.thumbnails == [Fixtures.spec: Fixtures.thumbnail(1)])

    cache.flush()
    #expect(entry(in: cache)?.thumbnails == [Fixtures.spec: Fixtures.thumbnail(1)])
    #expect(cache.counters.errors.isEmpty)
  }

  @Test(arguments: useless)
  func `An image that follows a useless failure keeps the sizes stored before`(failure: StoredSource) {
    let other = ThumbnailSpec(width: 32)
    do {
      let cache = ThumbnailCache(diskAt: directory.path)
      cache.store(Fixtures.source(1), thumbnails: [Fixtures.thumbnail(1)], for: Fixtures.key(1))
    }
    let cache = ThumbnailCache(diskAt: directory.path)
    cache.store(failure, thumbnails: [], for: Fixtures.key(1))
    cache.store(Fixtures.source(1), thumbnails: [Fixtures.thumbnail(1, spec: other)], for: Fixtures.key(1))
    cache.flush()
    let found = cache.entry(for: Fixtures.key(1), url: Fixtures.url(1), specs: [Fixtures.spec, other])

    #expect(found?.thumbnails.count == 2)
  }

  @Test func `A fresh 404 replaces an image on disk, and a failure that must not be stored replaces a failure`() {
    let cache = ThumbnailCache(diskAt: directory.path)
    cache.store(Fixtures.source(1), thumbnails: [Fixtures.thumbnail(1)], for: Fixtures.key(1))
    cache.flush()
    cache.store(Fixtures.failure(1), thumbnails: [], for: Fixtures.key(1))
    cache.flush()
    #expect(entry(in: cache)?.source == Fixtures.failure(1))

    cache.store(Self.useless[3], thumbnails: [], for: Fixtures.key(1))
    cache.flush()
    #expect(entry(in: cache) == nil)
  }

  @Test(arguments: useless)
  func `An image that was removed does not come back with a useless failure`(failure: StoredSource) throws {
    var store = DiskStore(CacheDirectory(path: directory.path), byteLimit: nil)
    func write(_ change: Staging.Change) throws {
      _ = try store.write(Staging.ChangeSet(changes: [(key: Fixtures.key(1), change: change)], used: []), now: 0)
    }
    try write(Staging.Change(source: Fixtures.source(1), thumbnails: [Fixtures.spec: Fixtures.thumbnail(1)]))
    try write(Staging.Change(source: nil).followed(by: Staging.Change(source: failure)))
    store.close()

    let found = entry(in: ThumbnailCache(diskAt: directory.path))
    #expect(found == nil || found?.source == failure)
  }
}
