import Foundation
import Synchronization
import Testing

@testable import ImageCache

@Suite("A full cache after its clock was wrong")
struct MovedClockTests {
  private typealias Fixtures = CacheFixtures
  private let directory: CachePlace
  private static let limit = 4 << 20
  private static let ahead = Fixtures.start + 9 * 365 * 86400

  init() throws { directory = try CachePlace() }

  private func store(_ numbers: Range<Int>, at date: Date) {
    let cache = ThumbnailCache(diskAt: directory.path, limit: Self.limit, now: { date })
    for number in numbers {
      cache.store(Fixtures.source(number), thumbnails: [Fixtures.thumbnail(number)], for: Fixtures.key(number))
      if number % 50 == 49 { cache.flush() }
    }
    cache.flush()
  }

  /// Stores the entries that are missing, in several runs, so that the cache sees that they come back.
  private func use(_ numbers: Range<Int>, at date: Date) {
    for run in 0..<4 {
      let cache = ThumbnailCache(diskAt: directory.path, limit: Self.limit, now: { date + Double(run) })
      for number in numbers {
        let entry = cache.entry(for: Fixtures.key(number), url: Fixtures.url(number), specs: [Fixtures.spec])
        if entry?.thumbnails.count != 1 { cache.store(number..<number + 1) }
        if number % 50 == 49 { cache.flush() }
      }
      cache.flush()
    }
  }

  private func hits(_ numbers: Range<Int>, at date: Date = Fixtures.start) -> Int {
    let cache = ThumbnailCache(diskAt: directory.path, limit: Self.limit, now: { date })
    defer { cache.flush() }
    return numbers.count { number in
      cache.entry(for: Fixtures.key(number), url: Fixtures.url(number), specs: [Fixtures.spec])?.thumbnails.count == 1
    }
  }

  private func usedBytes() throws -> Int {
    try CacheInspector(directory: directory.path).statistics(at: Fixtures.start).usedBytes
  }

  @Test func `Entries used with the right clock replace those stored while the clock was ahead`() throws {
    store(0..<2500, at: Self.ahead)
    #expect(try usedBytes() > Self.limit * 9 / 10)

    use(3000..<3500, at: Fixtures.start)
    #expect(hits(3000..<3500) == 500)
    #expect(try usedBytes() > Self.limit * 9 / 10)

    use(4000..<4100, at: Fixtures.start + 60)
    #expect(hits(3000..<3500) == 500)
    #expect(hits(4000..<4100) == 100)
  }

  @Test func `Entries stored while the clock was ahead stay if they are used with the right clock`() throws {
    store(0..<1000, at: Self.ahead)
    let first = 0..<100
    #expect(hits(first) == 100)

    use(3000..<4000, at: Fixtures.start + 60)
    #expect(hits(first) == 100)
  }

  @Test func `A clock set back leaves a full cache full, and new entries stay`() throws {
    store(0..<2500, at: Fixtures.start)
    let (past, entries) = (Fixtures.start - 10 * 86400, hits(0..<2500))
    use(3000..<3200, at: past)

    #expect(hits(3000..<3200, at: past) == 200)
    // Evicting an entry frees space only when its neighbors are gone, so 200 entries replace more than 200.
    #expect(hits(0..<2500, at: past) > entries * 2 / 3)
    #expect(try usedBytes() > Self.limit * 9 / 10)
  }

  @Test func `Pruning removes entries stored while the clock was ahead first, as predicted`() throws {
    store(0..<500, at: Self.ahead)
    store(1000..<1500, at: Fixtures.start)
    let half = try usedBytes() / 2
    let inspector = try CacheInspector(directory: directory.path)
    let predicted = try inspector.leastRecentlyUsed(above: half, at: Fixtures.start)
    let removed = try CacheMaintenance.prune(directory: directory.path, downTo: half, at: Fixtures.start)

    #expect(abs(predicted.sources - removed) < 120)
    #expect(hits(0..<500) == 0)
    // Rows share pages, which are freed only when all their rows are gone.
    #expect(hits(1000..<1500) > 380)
  }
}
