import Foundation
import Synchronization
import Testing

@testable import ImageCache

@Suite("ThumbnailCache")
struct ThumbnailCacheTests {
  private typealias Fixtures = CacheFixtures
  private let directory: CachePlace
  private let large = ThumbnailSpec(width: 256, fit: .cover, format: .png, background: .init(red: 1, green: 2, blue: 3))
  private let spec = Fixtures.spec

  init() throws { directory = try CachePlace() }

  private func lookUp(_ number: Int, in cache: ThumbnailCache, specs: [ThumbnailSpec] = [Fixtures.spec]) -> CacheEntry?
  {
    cache.entry(for: Fixtures.key(number), url: Fixtures.url(number), specs: specs)
  }

  @Test func `A stored source is found in memory at once without a disk tier`() throws {
    let cache = ThumbnailCache(.init(), logger: .silent)
    cache.store(Fixtures.source(1), thumbnails: [Fixtures.thumbnail(1)], for: Fixtures.key(1))
    let entry = try #require(cache.memoryEntry(for: Fixtures.key(1), url: Fixtures.url(1), specs: [spec, large]))

    #expect(entry.source == Fixtures.source(1))
    #expect(entry.thumbnails == [spec: Fixtures.thumbnail(1)])
    #expect(entry.origin == .memory)
    #expect(cache.memoryEntry(for: Fixtures.key(1), url: Fixtures.url(2), specs: [spec]) == nil)
    #expect(cache.memoryEntry(for: Fixtures.key(2), url: Fixtures.url(2), specs: [spec]) == nil)
    #expect(cache.counters.memoryHits == 1)
  }

  @Test(arguments: [true, false])
  func `A lookup counts as a hit only if it finds all sizes`(isOnDisk: Bool) {
    let cache = ThumbnailCache(.init(directory: directory.path), logger: .silent)
    cache.store(Fixtures.source(1), thumbnails: [Fixtures.thumbnail(1)], for: Fixtures.key(1))
    cache.flush()
    if isOnDisk { cache.emptyMemory() }
    let counts = [[spec, large], [large], [spec]].map { specs in
      let before = cache.counters
      let entry = lookUp(1, in: cache, specs: specs)
      let after = cache.counters
      return [
        entry?.thumbnails.count, after.memoryHits - before.memoryHits, after.diskHits - before.diskHits,
        after.misses - before.misses,
      ]
    }

    // The first lookup has loaded the image into memory.
    #expect(counts == [[1, 0, 0, 1], [0, 0, 0, 1], [1, 1, 0, 0]])
  }

  @Test func `An entry in memory that the caller does not use is no hit`() {
    let cache = ThumbnailCache(.init(), logger: .silent)
    cache.store(Fixtures.source(1), thumbnails: [Fixtures.thumbnail(1)], for: Fixtures.key(1))
    let (key, url) = (Fixtures.key(1), Fixtures.url(1))
    let unused = cache.memoryEntry(for: key, url: url, specs: [spec]) { _ in nil as CacheEntry? }
    let hits = cache.counters.memoryHits
    let used = cache.memoryEntry(for: key, url: url, specs: [spec]) { $0.source.url }

    let count = cache.counters.memoryHits

    #expect(unused == nil && hits == 0)
    #expect(used == url && count == 1)
  }

  @Test func `Emptying the memory tier leaves the disk tier unchanged`() {
    let cache = ThumbnailCache(.init(directory: directory.path), logger: .silent)
    for number in 0..<10 {
      cache.store(Fixtures.source(number), thumbnails: [Fixtures.thumbnail(number)], for: Fixtures.key(number))
    }
    cache.flush()
    cache.emptyMemory()

    #expect(cache.memoryUsage == (0, 0))
    #expect((0..<10).allSatisfy { lookUp($0, in: cache)?.origin == .disk })
    #expect((0..<10).allSatisfy { lookUp($0, in: cache)?.origin == .memory })
  }

  @Test func `Only the requested thumbnails are returned`() {
    let cache = ThumbnailCache(.init(), logger: .silent)
    let both = [Fixtures.thumbnail(1), Fixtures.thumbnail(1, spec: large)]
    cache.store(Fixtures.source(1), thumbnails: both, for: Fixtures.key(1))

    #expect(lookUp(1, in: cache, specs: [large])?.thumbnails == [large: both[1]])
    #expect(lookUp(1, in: cache, specs: [])?.thumbnails.isEmpty == true)
  }

  @Test func `A staged write is found before it is on disk`() {
    let cache = ThumbnailCache(diskAt: directory.path)
    cache.store(Fixtures.source(1), thumbnails: [Fixtures.thumbnail(1)], for: Fixtures.key(1))

    #expect(lookUp(1, in: cache)?.thumbnails == [spec: Fixtures.thumbnail(1)])
  }

  @Test func `A flushed entry is found unchanged by the next cache in the directory`() throws {
    var source = Fixtures.source(1)
    source.finalURL = "https://cdn.example/1.jpg"
    do {
      let cache = ThumbnailCache(diskAt: directory.path)
      let both = [Fixtures.thumbnail(1), Fixtures.thumbnail(1, spec: large)]
      cache.store(source, thumbnails: both, for: Fixtures.key(1))
      cache.store(Fixtures.failure(2), thumbnails: [], for: Fixtures.key(2))
      cache.flush()
    }
    let cache = ThumbnailCache(diskAt: directory.path)
    let entry = try #require(lookUp(1, in: cache, specs: [large, spec]))

    #expect(entry.source == source)
    #expect(entry.origin == .disk)
    #expect(entry.thumbnails == [spec: Fixtures.thumbnail(1), large: Fixtures.thumbnail(1, spec: large)])
    #expect(lookUp(2, in: cache)?.source == Fixtures.failure(2))
    #expect(lookUp(3, in: cache) == nil)
    #expect(cache.counters.errors.isEmpty)
    #expect((cache.counters.diskHits, cache.counters.misses) == (2, 1))
  }

  @Test func `A disk hit is promoted to memory`() throws {
    do {
      let cache = ThumbnailCache(diskAt: directory.path)
      cache.store(Fixtures.source(1), thumbnails: [Fixtures.thumbnail(1)], for: Fixtures.key(1))
      cache.flush()
    }
    let cache = ThumbnailCache(.init(directory: directory.path), logger: .silent, now: { Fixtures.start })
    #expect(lookUp(1, in: cache)?.origin == .disk)

    let entry = try #require(cache.memoryEntry(for: Fixtures.key(1), url: Fixtures.url(1), specs: [spec]))
    #expect(entry.thumbnails == [spec: Fixtures.thumbnail(1)])
  }

  @Test func `An entry of another URL under the same key is a miss and is removed`() {
    let cache = ThumbnailCache(diskAt: directory.path)
    cache.store(Fixtures.source(1), thumbnails: [Fixtures.thumbnail(1)], for: Fixtures.key(1))
    cache.flush()

    #expect(cache.entry(for: Fixtures.key(1), url: Fixtures.url(2), specs: [spec]) == nil)
    #expect(cache.counters.unusable == 1)

    cache.flush()
    #expect(lookUp(1, in: cache) == nil)
  }

  @Test(arguments: [0, 32 << 20])
  func `A 304 updates the source and keeps every thumbnail`(memory: Int) throws {
    let cache = ThumbnailCache(
      .init(directory: directory.path, memoryByteLimit: memory), logger: .silent, now: { Fixtures.start })
    let both = [Fixtures.thumbnail(1), Fixtures.thumbnail(1, spec: large)]
    cache.store(Fixtures.source(1), thumbnails: both, for: Fixtures.key(1))
    cache.flush()
    let updated = Fixtures.source(1, policy: Fixtures.policy("max-age=9", at: Fixtures.start + 5000))
    cache.update(updated, for: Fixtures.key(1))
    for _ in 0..<2 {
      let entry = try #require(lookUp(1, in: cache, specs: [spec, large]))
      #expect(entry.source == updated)
      #expect(entry.thumbnails.count == 2)
      cache.flush()
    }
  }

  @Test(arguments: [0, 32 << 20])
  func `A 200 with the same bytes keeps the other thumbnails, and one with new bytes removes them`(memory: Int) throws {
    let cache = ThumbnailCache(
      .init(directory: directory.path, memoryByteLimit: memory), logger: .silent, now: { Fixtures.start })
    cache.store(Fixtures.source(1), thumbnails: [Fixtures.thumbnail(1)], for: Fixtures.key(1))
    cache.flush()
    cache.store(Fixtures.source(1), thumbnails: [Fixtures.thumbnail(1, spec: large)], for: Fixtures.key(1))

    #expect(lookUp(1, in: cache, specs: [spec, large])?.thumbnails.count == 2)

    cache.flush()
    #expect(lookUp(1, in: cache, specs: [spec, large])?.thumbnails.count == 2)

    cache.store(Fixtures.source(1, body: "new"), thumbnails: [Fixtures.thumbnail(9, spec: large)], for: Fixtures.key(1))
    for _ in 0..<2 {
      #expect(lookUp(1, in: cache, specs: [spec, large])?.thumbnails == [large: Fixtures.thumbnail(9, spec: large)])
      cache.flush()
    }
  }

  @Test(arguments: [0, 32 << 20])
  func `A removed source is gone from both tiers`(memory: Int) {
    let cache = ThumbnailCache(
      .init(directory: directory.path, memoryByteLimit: memory), logger: .silent, now: { Fixtures.start })
    cache.store(Fixtures.source(1), thumbnails: [Fixtures.thumbnail(1)], for: Fixtures.key(1))
    cache.flush()
    cache.remove(Fixtures.key(1))

    #expect(lookUp(1, in: cache) == nil)

    cache.flush()
    #expect(lookUp(1, in: cache) == nil)
  }

  @Test func `Stale entries are returned`() throws {
    let cache = ThumbnailCache(diskAt: directory.path)
    cache.store(Fixtures.source(1), thumbnails: [], for: Fixtures.key(1))
    cache.flush()

    #expect(try #require(lookUp(1, in: cache)).source.policy.state(at: Fixtures.start + 1_000_000) == .stale)
  }

  @Test func `Hits write nothing, and the first one after an hour is recorded by the next flush`() throws {
    let time = Mutex(Fixtures.start)
    let cache = ThumbnailCache(diskAt: directory.path, now: { time.withLock { $0 } })
    cache.store(Fixtures.source(1), thumbnails: [Fixtures.thumbnail(1)], for: Fixtures.key(1))
    cache.flush()
    let wal = directory.path + "/g000001/cache.db-wal"
    func size() throws -> Int { try Data(contentsOf: URL(filePath: wal)).count }
    let before = try size()

    for _ in 0..<100 { #expect(lookUp(1, in: cache) != nil) }

    cache.flush()
    #expect(try size() == before)

    time.withLock { $0 += 3600 }
    #expect(lookUp(1, in: cache) != nil)
    #expect(try size() == before)

    cache.flush()
    #expect(try size() > before)
  }
}
