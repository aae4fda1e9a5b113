import Foundation
import GRDB
import Synchronization
import Testing

@testable import ImageCache

@Suite("The limit of a cache that others use too")
struct EvictionTests {
  private typealias Fixtures = CacheFixtures
  private let directory: CachePlace

  init() throws { directory = try CachePlace() }

  private func batch(_ numbers: Range<Int>) -> Staging.ChangeSet {
    let changes = numbers.map { number in
      let thumbnail = Fixtures.thumbnail(number)
      let change = Staging.Change(source: Fixtures.source(number), thumbnails: [thumbnail.spec: thumbnail])
      return (key: Fixtures.key(number), change: change)
    }
    return Staging.ChangeSet(changes: changes, used: [])
  }

  private func usedBytes() throws -> Int {
    try CacheInspector(directory: directory.path).statistics(at: Fixtures.start).usedBytes
  }

  @Test func `A much lower limit is enforced in steps, between which the lock is free`() throws {
    var large = DiskStore(CacheDirectory(path: directory.path), byteLimit: 64 << 20)
    for start in stride(from: 0, to: 2000, by: 50) { _ = try large.write(batch(start..<start + 50), now: start) }
    large.close()
    let lock = try FileLock(creating: CacheDirectory(path: directory.path).lockPath)
    let pauses = Mutex<[Bool]>([])
    var small = DiskStore(
      CacheDirectory(path: directory.path), byteLimit: 1 << 20,
      pause: {
        let isFree = (try? lock.withLock(patience: .zero) { () throws(DiskCacheError) in }) != nil
        pauses.withLock { $0.append(isFree) }
      })
    defer { small.close() }
    let summary = try small.write(batch(3000..<3050), now: 3000)

    #expect(pauses.withLock { $0.count } > 4)
    #expect(pauses.withLock { $0.allSatisfy { $0 } })
    #expect(summary.eviction.sources > 1000)
    #expect(try usedBytes() <= 1 << 20)
    let inspector = try CacheInspector(directory: directory.path)
    #expect(try (1900..<2000).allSatisfy { try inspector.source(of: Fixtures.key($0)) != nil })
  }

  @Test func `A process that takes the lock during an eviction delays it and loses nothing`() throws {
    var large = DiskStore(CacheDirectory(path: directory.path), byteLimit: 64 << 20)
    for start in stride(from: 0, to: 2000, by: 50) { _ = try large.write(batch(start..<start + 50), now: start) }
    large.close()
    let lockPath = CacheDirectory(path: directory.path).lockPath
    let holder = Mutex<Int32>(-1)
    var hindered = DiskStore(
      CacheDirectory(path: directory.path), byteLimit: 1 << 20, patience: .zero,
      pause: {
        holder.withLock { descriptor in
          if descriptor < 0 { descriptor = open(lockPath, O_RDWR | O_CLOEXEC) }
          #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        }
      })
    let first = try hindered.write(batch(3000..<3050), now: 3000)
    holder.withLock { _ = close($0) }
    hindered.close()

    // One step before the batch, and one after it.
    #expect(first.eviction.sources == 512)
    #expect(try usedBytes() > 1 << 20)

    var next = DiskStore(CacheDirectory(path: directory.path), byteLimit: 1 << 20)
    defer { next.close() }
    #expect(try next.write(batch(3050..<3100), now: 3001).eviction.sources > 500)
    #expect(try usedBytes() <= 1 << 20)
    let inspector = try CacheInspector(directory: directory.path)
    #expect(try (1900..<2000).allSatisfy { try inspector.source(of: Fixtures.key($0)) != nil })
  }

  @Test func `Pages that belong to no source do not make every later entry be evicted`() throws {
    let cache = ThumbnailCache(diskAt: directory.path, limit: 2 << 20)
    func store(_ numbers: Range<Int>) {
      for number in numbers {
        cache.store(Fixtures.source(number), thumbnails: [Fixtures.thumbnail(number)], for: Fixtures.key(number))
      }
      cache.flush()
    }
    store(0..<50)
    try DatabaseQueue.patient(directory.path + "/g000001/cache.db").write {
      try $0.execute(sql: "CREATE TABLE stray (data BLOB); INSERT INTO stray VALUES (zeroblob(3000000))")
    }
    store(100..<150)
    store(200..<250)
    store(300..<350)

    let hits = (200..<350).count {
      cache.entry(for: Fixtures.key($0), url: Fixtures.url($0), specs: [Fixtures.spec])?.thumbnails.count == 1
    }
    #expect(hits == 100)
    #expect(try usedBytes() <= 2 << 20)
  }

  @Test func `A cache whose eviction fails stops growing`() throws {
    let cache = ThumbnailCache(.init(directory: directory.path, diskByteLimit: 1 << 20), logger: .silent)
    cache.store(0..<1)
    cache.flush()
    try DatabaseQueue.patient(directory.path + "/g000001/cache.db").write {
      try $0.execute(
        sql: "CREATE TRIGGER failure BEFORE DELETE ON item BEGIN SELECT zeroblob(\(Int32.max)); END")
    }
    for start in stride(from: 0, to: 3000, by: 50) {
      cache.store(start..<start + 50)
      cache.flush()
    }

    #expect(cache.counters.errors[.io, default: 0] > 10)
    // An inspector does not open a database with a trigger.
    let pages = try DatabaseQueue.patient(directory.path + "/g000001/cache.db").read {
      try Int.fetchOne($0, sql: "PRAGMA page_count")
    }
    #expect(try #require(pages) * DiskDatabase.pageSize < 2 << 20)
  }

  @Test func `The stored limit applies to single thumbnails and originals too`() throws {
    let cache = ThumbnailCache(
      .init(directory: directory.path, diskByteLimit: 64 << 20, originals: .share(percent: 80), memoryByteLimit: 0),
      logger: .silent, now: { Fixtures.start })
    cache.store(Fixtures.source(0), thumbnails: [Fixtures.thumbnail(0)], for: Fixtures.key(0))
    cache.flush()
    try CacheMaintenance.setLimit(1 << 20, directory: directory.path)
    let (small, large) = (ThumbnailSpec(width: 65), ThumbnailSpec(width: 640))
    cache.store(
      Fixtures.source(1),
      thumbnails: [
        Fixtures.thumbnail(1, spec: small, bytes: 130_000), Fixtures.thumbnail(1, spec: large, bytes: 132_000),
      ], original: Array(repeating: 7, count: 110_000), for: Fixtures.key(1))
    cache.flush()
    let entry = cache.entry(for: Fixtures.key(1), url: Fixtures.url(1), specs: [small, large])

    #expect(entry?.thumbnails.keys.map(\.self) == [small])
    #expect(cache.counters.refused == 1)
    #expect(try CacheInspector(directory: directory.path).statistics(at: Fixtures.start).originalBytes == 0)
  }

  @Test(arguments: [Int.min, -1, 0, 1, 50, 100, Int.max], [Int.min, -1, 0, 1, 99, 1 << 30, Int.max])
  func `The share of originals lies within the limit for any numbers`(percent: Int, limit: Int) {
    let share = OriginalPolicy.share(percent: percent).byteLimit(of: limit)

    #expect((0...max(0, limit)).contains(share))
    if percent >= 100 { #expect(share == max(0, limit)) }
    if percent == 50, limit == 1 << 30 { #expect(share == 1 << 29) }
  }
}
