import Foundation
import Synchronization
import Testing

@testable import ImageCache

@Suite("The limit of the disk tier")
struct DiskLimitTests {
  private typealias Fixtures = CacheFixtures
  private let directory: CachePlace

  init() throws { directory = try CachePlace() }

  private func fill(
    _ cache: ThumbnailCache, _ numbers: Range<Int>, spec: ThumbnailSpec = Fixtures.spec, bytes: Int = 12_000
  ) {
    for number in numbers {
      cache.store(
        Fixtures.source(number), thumbnails: [Fixtures.thumbnail(number, spec: spec, bytes: bytes)],
        for: Fixtures.key(number))
      if number % 50 == 49 { cache.flush() }
    }
    cache.flush()
  }

  private func isThere(_ number: Int, in cache: ThumbnailCache) -> Bool {
    let entry = cache.entry(for: Fixtures.key(number), url: Fixtures.url(number), specs: [Fixtures.spec])
    return entry?.origin == .disk && entry?.thumbnails.isEmpty == false
  }

  @Test(arguments: [1 << 20, 4 << 20])
  func `The database never exceeds the limit by more than one batch`(limit: Int) throws {
    let cache = ThumbnailCache(diskAt: directory.path, limit: limit)
    let database = directory.path + "/g000001/cache.db"
    for round in 0..<12 {
      // The sources that are kept get a new size each time.
      fill(cache, 0..<100, spec: ThumbnailSpec(width: 64 + round))
      fill(cache, round * 100..<round * 100 + 100)
      let size = try #require(FileManager.default.attributesOfItem(atPath: database)[.size] as? Int)
      #expect(size <= limit + Staging.batchBytes + (1 << 16))
    }

    let counters = cache.counters
    #expect(counters.evicted > 0 && counters.declined > 0)
    #expect(counters.errors.isEmpty)
  }

  @Test func `Eviction keeps recently used entries and removes the least recently used ones`() {
    let time = Mutex(Fixtures.start)
    let cache = ThumbnailCache(diskAt: directory.path, limit: 64 << 20, now: { time.withLock { $0 } })
    for round in 0..<10 {
      fill(cache, round * 50..<round * 50 + 50)
      time.withLock { $0 += 4000 }
      let isKept = isThere(0, in: cache)
      #expect(isKept, "round \(round)")
    }
    let smaller = ThumbnailCache(diskAt: directory.path, limit: 2 << 20, now: { time.withLock { $0 } })
    fill(smaller, 500..<501)

    let isThere = [0, 1, 499].map { self.isThere($0, in: smaller) }
    #expect(isThere == [true, false, true])
  }

  @Test func `A size that is no longer wanted is evicted, and the other size of the same sources stays`() throws {
    let time = Mutex(Fixtures.start)
    let large = ThumbnailSpec(width: 256)
    let cache = ThumbnailCache(diskAt: directory.path, limit: 2 << 20, now: { time.withLock { $0 } })
    for number in 0..<50 {
      let thumbnails = [Fixtures.thumbnail(number), Fixtures.thumbnail(number, spec: large, bytes: 12_000)]
      cache.store(Fixtures.source(number), thumbnails: thumbnails, for: Fixtures.key(number))
    }
    cache.flush()
    for round in 2..<6 {
      time.withLock { $0 += 4000 }
      let hits = cache.checkedHits(0..<50)
      #expect(hits == 50, "round \(round)")
    }
    cache.flush()
    try CacheMaintenance.prune(directory: directory.path, downTo: 1 << 19)
    let counts = [Fixtures.spec, large].map { spec in
      (0..<50).count { number in
        let entry = cache.entry(for: Fixtures.key(number), url: Fixtures.url(number), specs: [spec])
        return entry?.thumbnails.isEmpty == false
      }
    }

    #expect(counts[0] == 50)
    // The exact number depends on how the changes are divided into batches.
    #expect(counts[1] < 40)
  }

  @Test func `A thumbnail above an eighth of the limit is refused before it is written`() {
    let cache = ThumbnailCache(diskAt: directory.path, limit: 1 << 20)
    fill(cache, 0..<1, bytes: 200_000)
    let entry = cache.entry(for: Fixtures.key(0), url: Fixtures.url(0), specs: [Fixtures.spec])

    #expect(entry?.thumbnails.isEmpty == true)
    #expect(cache.counters.refused == 1)
  }
}
