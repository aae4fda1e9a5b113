import Foundation
import GRDB
import Testing

@testable import ImageCache

@Suite("Originals kept on disk")
struct OriginalTests {
  private typealias Fixtures = CacheFixtures
  private let directory: CachePlace

  init() throws { directory = try CachePlace() }

  private func cache(limit: Int = 64 << 20, _ originals: OriginalPolicy = .standard) -> ThumbnailCache {
    var configuration = ThumbnailCache.Configuration(
      directory: directory.path, diskByteLimit: limit, memoryByteLimit: 0)
    configuration.originals = originals
    return ThumbnailCache(configuration, logger: .silent, now: { Fixtures.start })
  }

  private func body(_ number: Int, bytes: Int = 30_000) -> [UInt8] {
    Fixtures.thumbnail(number, spec: ThumbnailSpec(width: 1000), bytes: bytes).bytes
  }

  private func store(_ number: Int, in cache: ThumbnailCache) -> StoredSource {
    let source = Fixtures.source(number, original: body(number))
    cache.store(
      source, thumbnails: [Fixtures.thumbnail(number)], original: body(number), for: Fixtures.key(number))
    return source
  }

  @Test func `An original is found before and after it is written, and is gone once the source has a new body`() {
    let cache = cache()
    let first = store(1, in: cache)
    #expect(cache.original(of: first, for: Fixtures.key(1)) == body(1))

    cache.flush()
    #expect(cache.original(of: first, for: Fixtures.key(1)) == body(1))

    cache.update(first, for: Fixtures.key(1))
    cache.flush()
    #expect(cache.original(of: first, for: Fixtures.key(1)) == body(1))

    let second = Fixtures.source(1, original: body(2))
    cache.store(second, thumbnails: [], for: Fixtures.key(1))
    #expect(cache.original(of: second, for: Fixtures.key(1)).isEmpty)

    cache.flush()
    #expect(cache.original(of: second, for: Fixtures.key(1)).isEmpty)
    #expect(cache.original(of: first, for: Fixtures.key(1)).isEmpty)
  }

  @Test func `An original is not kept by default or above an eighth of its share`() {
    let plain = cache(.none)
    let source = store(1, in: plain)
    plain.flush()

    #expect(plain.original(of: source, for: Fixtures.key(1)).isEmpty)

    let small = cache(limit: 1 << 20)
    let other = store(2, in: small)
    small.flush()

    #expect(small.original(of: other, for: Fixtures.key(2)).isEmpty)
    #expect(small.counters.errors.isEmpty)
  }

  @Test func `Originals keep to their share, the first stored are evicted first, and their thumbnails stay`() throws {
    let cache = cache(limit: 8 << 20, .share(percent: 10))
    let sources = (0..<60).map { number in
      defer { if number % 10 == 9 { cache.flush() } }
      return store(number, in: cache)
    }
    let statistics = try CacheInspector(directory: directory.path).statistics(at: Fixtures.start)

    #expect(statistics.originalBytes == 27 * 30_000)
    #expect(statistics.thumbnails == 60)

    let kept = sources.indices.filter { !cache.original(of: sources[$0], for: Fixtures.key($0)).isEmpty }
    #expect(kept == Array(33..<60))

    try CacheMaintenance.remove((0..<60).map(Fixtures.key), directory: directory.path)
    #expect(try StoredRowEditor(directory).count("SELECT count(*) FROM item") == 0)
    #expect(try CacheInspector(directory: directory.path).statistics(at: Fixtures.start).originalBytes == 0)
  }

  @Test func `A damaged original is not returned`() throws {
    let cache = cache()
    let source = store(1, in: cache)
    cache.flush()
    try DatabaseQueue.patient(directory.path + "/g000001/cache.db").write {
      try $0.execute(sql: "UPDATE item SET body = zeroblob(length(body)) WHERE \(RowNumber.isOriginal)")
    }

    #expect(cache.original(of: source, for: Fixtures.key(1)).isEmpty)
  }
}
