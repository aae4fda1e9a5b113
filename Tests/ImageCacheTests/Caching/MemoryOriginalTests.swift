import Foundation
import TestSupport
import Testing

@testable import ImageCache

@Suite("Originals kept in memory")
struct MemoryOriginalTests {
  private typealias Fixtures = CacheFixtures

  private func cache(_ limit: Int = 8 << 20, directory: String? = nil) -> ThumbnailCache {
    ThumbnailCache(
      .init(directory: directory, memoryOriginalByteLimit: limit), logger: .silent, now: { Fixtures.start })
  }

  private func body(_ number: Int, bytes: Int = 30_000) -> [UInt8] {
    Fixtures.thumbnail(number, spec: ThumbnailSpec(width: 1000), bytes: bytes).bytes
  }

  @discardableResult
  private func store(_ number: Int, bytes: Int = 30_000, in cache: ThumbnailCache) -> StoredSource {
    let original = body(number, bytes: bytes)
    let source = Fixtures.source(number, original: original)
    cache.store(source, thumbnails: [Fixtures.thumbnail(number)], original: original, for: Fixtures.key(number))
    return source
  }

  @Test func `An original is kept while its source has the same body`() {
    let cache = cache()
    let first = store(1, in: cache)
    #expect(cache.memoryOriginal(of: first, for: Fixtures.key(1)) == body(1))
    #expect(cache.original(of: first, for: Fixtures.key(1)) == body(1))

    // A confirmed source, and a new thumbnail made from the original.
    cache.update(first, for: Fixtures.key(1))
    cache.store(
      first, thumbnails: [Fixtures.thumbnail(1, spec: ThumbnailSpec(width: 9))], for: Fixtures.key(1))
    #expect(cache.memoryOriginal(of: first, for: Fixtures.key(1)) == body(1))

    let second = Fixtures.source(1, original: body(2))
    cache.store(second, thumbnails: [], for: Fixtures.key(1))
    #expect(cache.memoryOriginal(of: second, for: Fixtures.key(1)).isEmpty)
    #expect(cache.memoryOriginal(of: first, for: Fixtures.key(1)).isEmpty)
    #expect(cache.originals.usage == (0, 0))
  }

  @Test func `Nothing is kept by default`() {
    let cache = ThumbnailCache(.init(), logger: .silent, now: { Fixtures.start })
    let source = store(1, in: cache)
    #expect(cache.memoryOriginal(of: source, for: Fixtures.key(1)).isEmpty)
    #expect(cache.originals.usage == (0, 0))
  }

  @Test(arguments: [-1, 0, 1, 1 << 20, 4 << 20])
  func `Originals keep to their limit, and count as bytes in memory`(limit: Int) {
    let cache = cache(limit)
    for number in 0..<300 {
      store(number, in: cache)
      #expect(cache.originals.usage.cost <= max(0, limit))
    }
    let usage = cache.originals.usage
    #expect(usage.count == 0 ? limit < 1 << 20 : usage.count * 30_000 <= usage.cost)
    #expect(cache.memoryUsage.bytes == cache.memory.usage.cost + usage.cost)

    let large = store(300, bytes: max(8, limit) / 8, in: cache)
    #expect(cache.memoryOriginal(of: large, for: Fixtures.key(300)).isEmpty)
  }

  @Test func `A response that must not be stored, and a removal, leave no original behind`() {
    let cache = cache()
    for isRemoved in [true, false] {
      var source = store(1, in: cache)
      #expect(cache.originals.usage.count == 1)
      source.policy = Fixtures.policy("no-store")
      if isRemoved {
        cache.remove(Fixtures.key(1))
      } else {
        cache.update(source, for: Fixtures.key(1))
      }
      #expect(cache.originals.usage == (0, 0))
    }
    var secret = Fixtures.source(2, original: body(2))
    secret.policy = Fixtures.policy("no-store")
    cache.store(secret, thumbnails: [], original: body(2), for: Fixtures.key(2))
    #expect(cache.originals.usage == (0, 0))

    store(3, in: cache)
    cache.emptyMemory()
    #expect(cache.memoryUsage == (0, 0))
  }

  @Test func `A failure that replaces the image takes its original along, and one that does not leaves it`() {
    let cache = cache()
    let source = store(1, in: cache)
    var passing = Fixtures.failure(1)
    passing.status = 503
    cache.store(passing, thumbnails: [], for: Fixtures.key(1))
    #expect(cache.memoryOriginal(of: source, for: Fixtures.key(1)) == body(1))

    cache.store(Fixtures.failure(1), thumbnails: [], for: Fixtures.key(1))
    #expect(cache.memoryOriginal(of: source, for: Fixtures.key(1)).isEmpty)
    #expect(cache.originals.usage == (0, 0))
  }

  @Test func `With originals on disk as well, the disk has what memory has lost`() throws {
    let place = try CachePlace()
    var configuration = ThumbnailCache.Configuration(directory: place.path, memoryOriginalByteLimit: 8 << 20)
    configuration.originals = .standard
    let cache = ThumbnailCache(configuration, logger: .silent, now: { Fixtures.start })
    let source = store(1, in: cache)
    cache.flush()
    cache.emptyMemory()

    #expect(cache.memoryOriginal(of: source, for: Fixtures.key(1)).isEmpty)
    #expect(cache.original(of: source, for: Fixtures.key(1)) == body(1))
  }
}
