import Foundation
import GRDB
import Synchronization
import Testing

@testable import ImageCache

@Suite("Faults of the system around the disk level")
struct SystemFaultTests {
  private typealias Fixtures = CacheFixtures
  private let directory = TemporaryDirectory()

  private static func store(_ numbers: Range<Int>, in cache: ThumbnailCache) {
    for number in numbers {
      let thumbnail = Fixtures.thumbnail(number, bytes: 12_000)
      cache.store(Fixtures.source(number), thumbnails: [thumbnail], for: Fixtures.key(number))
      if number % 50 == 49 { cache.flush() }
    }
    cache.flush()
  }

  /// How many entries are there; nil when one of them is not what was stored.
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

  @Test(
    "A disk that is full: counted, what is there is right, and with room again it goes on", arguments: [0, 60, 900])
  func fullDisk(kilobytes: Int) async throws {
    let path = directory.path
    Self.store(1000..<1040, in: ThumbnailCache(diskAt: path))
    await #expect(processExitsWith: .success) { [path = path as String, kilobytes = kilobytes as Int] in
      // No file may grow above this: writing fails with EFBIG instead of ENOSPC, at the same places.
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
    // What was committed before the disk was full is there still.
    #expect(Self.hits(1000..<1040, in: cache) == 40)
    Self.store(500..<600, in: cache)
    #expect(Self.hits(500..<600, in: cache) == 100)
  }

  @Test("A directory without permissions costs nothing but the disk level")
  func noPermissions() async throws {
    let path = directory.path
    Self.store(0..<10, in: ThumbnailCache(diskAt: path))
    #expect(chmod(path, 0) == 0)
    defer { chmod(path, 0o700) }
    await #expect(processExitsWith: .success) { [path = path as String] in
      // Nothing is forbidden to root.
      if geteuid() == 0 { #expect(setuid(65534) == 0) }
      let cache = ThumbnailCache(.init(directory: path), logger: .silent)
      #expect(Self.hits(0..<10, in: cache) == 0)
      Self.store(0..<10, in: cache)
      #expect(Self.hits(0..<10, in: cache) == 10)
      #expect(cache.counters.errors.keys.allSatisfy { $0 == .io })
      #expect(cache.counters.dropped == 10)
    }
  }

  @Test("A clock that is moved back ten days, then on by a year")
  func movedClock() {
    let clock = Mutex(Fixtures.start)
    let cache = ThumbnailCache(diskAt: directory.path, limit: 1 << 20, now: { clock.withLock { $0 } })
    Self.store(0..<50, in: cache)
    for (step, days) in [-10.0, 365].enumerated() {
      clock.withLock { $0 = Fixtures.start + days * 86400 }
      #expect(Self.hits(0..<1000, in: cache) != nil)
      Self.store(100 * (step + 1)..<100 * (step + 1) + 100, in: cache)
      #expect(cache.counters.errors.isEmpty)
      // Some 70 fit: those that were stored last, whatever the clock said.
      #expect(Self.hits(100 * (step + 1) + 50..<100 * (step + 1) + 100, in: cache) == 50)
    }
    #expect(cache.counters.evicted > 0)
  }

  @Test("A run of hits alone writes nothing")
  func hitsDoNotWrite() throws {
    Self.store(0..<50, in: ThumbnailCache(diskAt: directory.path))
    let database = try DatabaseQueue(path: directory.path + "/g000001/cache.db")
    // SQLite's own count of what other connections changed.
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
