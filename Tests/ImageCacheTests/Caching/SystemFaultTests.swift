import Foundation
import GRDB
import Synchronization
import Testing

@testable import ImageCache

@Suite("System faults around the disk tier")
struct SystemFaultTests {
  private typealias Fixtures = CacheFixtures
  private let directory: CachePlace

  init() throws { directory = try CachePlace() }

  private static func store(_ numbers: Range<Int>, in cache: ThumbnailCache) {
    for number in numbers {
      let thumbnail = Fixtures.thumbnail(number, bytes: 12_000)
      cache.store(Fixtures.source(number), thumbnails: [thumbnail], for: Fixtures.key(number))
      if number % 50 == 49 { cache.flush() }
    }
    cache.flush()
  }

  /// Counts the entries found; nil if one of them differs from what was stored.
  private static func hits(_ numbers: Range<Int>, in cache: ThumbnailCache) -> Int? {
    var count = 0
    for number in numbers {
      let entry = cache.entry(for: Fixtures.key(number), url: Fixtures.url(number), specs: [Fixtures.spec])
      guard let thumbnail = entry?.thumbnails[Fixtures.spec] else { continue }
      guard thumbnail == Fixtures.thumbnail(number, bytes: 12_000) else { return nil }
      count += 1
    }
    return count
  }

  @Test(arguments: [0, 60, 900])
  func `A full disk loses no stored entry, and writing resumes once there is space`(kilobytes: Int) async throws {
    let path = directory.path
    Self.store(1000..<1040, in: ThumbnailCache(diskAt: path))
    await #expect(processExitsWith: .success) { [path = path as String, kilobytes = kilobytes as Int] in
      // No file may grow above this limit, so writes fail with EFBIG instead of ENOSPC, at the same places.
      signal(SIGXFSZ, SIG_IGN)
      var limit = rlimit(rlim_cur: rlim_t(kilobytes << 10), rlim_max: rlim_t(kilobytes << 10))
      #expect(setrlimit(__rlimit_resource_t(UInt32(RLIMIT_FSIZE.rawValue)), &limit) == 0)
      let cache = ThumbnailCache(diskAt: path)
      Self.store(0..<200, in: cache)
      let counters = cache.counters
      #expect(Self.hits(0..<200, in: cache) != nil)
      #expect(!counters.errors.isEmpty)
      #expect(counters.dropped > 0)
    }

    let cache = ThumbnailCache(diskAt: path)
    #expect(Self.hits(0..<200, in: cache) != nil)
    // Entries committed before the disk was full are still there.
    #expect(Self.hits(1000..<1040, in: cache) == 40)

    Self.store(500..<600, in: cache)
    #expect(Self.hits(500..<600, in: cache) == 100)
  }

  @Test func `A directory without permissions disables only the disk tier`() async throws {
    let path = directory.path
    Self.store(0..<10, in: ThumbnailCache(diskAt: path))
    #expect(chmod(path, 0) == 0)
    defer { chmod(path, 0o700) }
    await #expect(processExitsWith: .success) { [path = path as String] in
      // Root may do anything.
      if geteuid() == 0 { #expect(setuid(65534) == 0) }
      let cache = ThumbnailCache(.init(directory: path), logger: .silent)
      #expect(Self.hits(0..<10, in: cache) == 0)
      Self.store(0..<10, in: cache)
      #expect(Self.hits(0..<10, in: cache) == 10)
      #expect(cache.counters.errors.keys.allSatisfy { $0 == .io })
      #expect(cache.counters.dropped == 10)
    }
  }

  @Test func `A cache keeps working when the clock is set back ten days and then ahead by a year`() {
    let clock = Mutex(Fixtures.start)
    let cache = ThumbnailCache(diskAt: directory.path, limit: 1 << 20, now: { clock.withLock { $0 } })
    Self.store(0..<50, in: cache)
    for (step, days) in [-10.0, 365].enumerated() {
      clock.withLock { $0 = Fixtures.start + days * 86400 }
      #expect(Self.hits(0..<1000, in: cache) != nil)
      // About 70 entries fit. Those of a list that comes back replace the others, whatever the clock reads.
      for _ in 0..<4 { Self.store(100 * (step + 1)..<100 * (step + 1) + 60, in: cache) }
      #expect(cache.counters.errors.isEmpty)
      #expect(Self.hits(100 * (step + 1)..<100 * (step + 1) + 60, in: cache) ?? 0 > 50)
    }

    #expect(cache.counters.evicted > 0)
  }

  @Test func `Hits write nothing to the database`() throws {
    Self.store(0..<50, in: ThumbnailCache(diskAt: directory.path))
    let database = try DatabaseQueue.patient(directory.path + "/g000001/cache.db")
    // SQLite's own counter of changes by other connections.
    func version() throws -> Int? { try database.read { try Int.fetchOne($0, sql: "PRAGMA data_version") } }
    let before = try version()
    do {
      let cache = ThumbnailCache(diskAt: directory.path, now: { Fixtures.start + 60 })
      for _ in 0..<20 { #expect(Self.hits(0..<50, in: cache) == 50) }
      cache.flush()
      #expect(cache.counters.diskHits == 1000)
    }

    #expect(try version() == before)

    let cache = ThumbnailCache(diskAt: directory.path)
    Self.store(50..<51, in: cache)

    #expect(try version() != before)
  }
}
