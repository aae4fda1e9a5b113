import Foundation
import GRDB
import TestSupport
import Testing

@testable import ImageCache

@Suite("The write-ahead log of a cache")
struct LogTests {
  private typealias Fixtures = CacheFixtures
  private let directory: CachePlace
  init() throws { directory = try CachePlace() }

  private var log: Int { CacheDirectory.size(ofFile: directory.path + "/g000001/cache.db-wal") }

  private func store(limit: Int) -> DiskStore {
    DiskStore(CacheDirectory(path: directory.path), byteLimit: limit, patience: .zero)
  }

  /// Writes a batch of about 1 MiB.
  private func write(_ round: Int, to store: inout DiskStore) throws -> DiskStore.WriteSummary {
    try write(round * 64..<round * 64 + 64, bytes: 16_000, to: &store, now: round)
  }

  private func write(
    _ numbers: Range<Int>, bytes: Int, to store: inout DiskStore, now: Int
  ) throws -> DiskStore.WriteSummary {
    let changes = numbers.map { number in
      let thumbnail = Fixtures.thumbnail(number, bytes: bytes)
      let change = Staging.Change(source: Fixtures.source(number), thumbnails: [thumbnail.spec: thumbnail])
      return (key: Fixtures.key(number), change: change)
    }
    return try store.write(Staging.ChangeSet(changes: changes, used: []), now: now)
  }

  private func hits(_ numbers: Range<Int>) -> Int {
    let cache = ThumbnailCache(diskAt: directory.path)
    return numbers.count { cache.entry(for: Fixtures.key($0), url: Fixtures.url($0), specs: [Fixtures.spec]) != nil }
  }

  @Test func `A stalled reader lets the log grow to a limit, and then only removals are written`() throws {
    var store = store(limit: 16 << 20)
    defer { store.close() }
    #expect(try write(0, to: &store).refused == 0)
    let reader = try DiskDatabase.reader(at: directory.path + "/g000001/cache.db")
    try reader.unsafeRead { database in
      try database.execute(sql: "BEGIN; SELECT count(*) FROM slot")
      defer { try? database.execute(sql: "COMMIT") }
      var refused = 0
      for round in 1...60 { refused += try write(round % 8, to: &store).refused }
      #expect(refused > 64)
      #expect((32 << 20...38 << 20).contains(log))

      let removal = (key: Fixtures.key(3), change: Staging.Change(source: nil))
      #expect(try store.write(Staging.ChangeSet(changes: [removal], used: []), now: 100).refused == 0)
      #expect(hits(0..<8) == 7)
    }

    #expect(try write(9, to: &store).refused == 0)
    #expect(log < 3 << 20)
    #expect(hits(9 * 64..<10 * 64) == 64)
  }

  @Test func `The limit of the log follows that of the cache`() {
    let schedule = CheckpointSchedule()
    #expect(!schedule.isFull(logBytes: 32 << 20, limit: 0))
    #expect(schedule.isFull(logBytes: 33 << 20, limit: 0))
    #expect(!schedule.isFull(logBytes: 288 << 20, limit: 2 << 30))
    #expect(schedule.isFull(logBytes: 289 << 20, limit: 2 << 30))
  }

  @Test func `The last process leaves an empty log`() throws {
    var store = store(limit: 256 << 20)
    _ = try write(0, to: &store)
    #expect(log > 1 << 20)

    store.close()
    #expect(log == 0)
    #expect(hits(0..<64) == 64)
  }

  @Test func `A cache that closes while another process holds the lock leaves the log alone`() throws {
    var store = store(limit: 256 << 20)
    _ = try write(0, to: &store)
    let before = log
    try FileLock(creating: directory.path + "/lock").withLock { () throws(DiskCacheError) in store.close() }

    #expect(before > 1 << 20 && log == before)
    #expect(hits(0..<64) == 64)
  }

  @Test func `The uses of 1,024 random sources among 60,000 add less than a megabyte to the log`() throws {
    let path = directory.path
    // Not by a cache, which another thread may still close when the last reference is gone.
    var store = store(limit: 1 << 30)
    let now = Int(Fixtures.start.timeIntervalSince1970)
    for first in stride(from: 0, to: 60_000, by: 1000) {
      _ = try write(first..<first + 1000, bytes: 16, to: &store, now: now)
    }
    store.close()
    #expect(log == 0)
    var generator = SeededGenerator(seed: 1)
    let numbers = (0..<1024).map { _ in Int.random(in: 0..<60_000, using: &generator) }
    let cache = ThumbnailCache(diskAt: path, limit: 1 << 30, now: { Fixtures.start + 4000 })
    let lookups = numbers.map { CacheLookup(key: Fixtures.key($0), url: Fixtures.url($0), specs: [Fixtures.spec]) }
    let hits = cache.entries(for: lookups).count { $0?.thumbnails.isEmpty == false }
    cache.flush()
    let written = log

    #expect(hits == 1024)
    #expect((100_000..<1 << 20).contains(written))
  }
}
