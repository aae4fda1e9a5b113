import Foundation
import GRDB
import Testing

@testable import ImageCache

/// Runs of lists that do not fit in the cache, each in a new cache object like that of a process.
@Suite("A full cache over many runs")
struct NightlyRunTests {
  private typealias Fixtures = CacheFixtures
  private let directory: CachePlace
  private static let images = 500

  init() throws { directory = try CachePlace() }

  /// The limit at which `part` percent of the images of one list fit.
  private static func limit(_ part: Int) -> Int { images * 8192 * part / 100 }

  /// Looks up each image and stores it if it is missing. Returns the number of hits.
  private func run(_ list: [Int], limit: Int, at now: Date) -> Int {
    let cache = ThumbnailCache(diskAt: directory.path, limit: limit, now: { now })
    let hits = list.count { number in
      let entry = cache.entry(for: Fixtures.key(number), url: Fixtures.url(number), specs: [Fixtures.spec])
      if entry?.thumbnails.isEmpty == false { return true }
      // The log keeps its size, so bodies that change their place do not make the cache look larger.
      cache.store(number..<number + 1, bytes: 6500)
      return false
    }
    cache.flush()
    cache.recordRun()
    return hits
  }

  private func runs(_ lists: NightlyLists, part: Int, nights: Int, interval: Double) -> [Int] {
    lists.nights(nights).enumerated().map { night, list in
      // A quarter of the images, in the same order.
      let few = list.filter { $0 % 4 == 0 }
      return run(few, limit: Self.limit(part), at: Fixtures.start + Double(night) * interval)
    }
  }

  /// Runs within a second, within an hour, and once per night.
  private static let intervals = [0, 60, 86_400.0]

  @Test(arguments: [NightlyLists.sameOrder, .randomOrder], intervals)
  func `A list that comes back has hits in proportion to what fits`(lists: NightlyLists, interval: Double) throws {
    let hits = runs(lists, part: 50, nights: 4, interval: interval)
    let kept = try CacheInspector(directory: directory.path).statistics(at: Fixtures.start).sources
    #expect(kept > 180 && kept < 320)
    for hits in hits.dropFirst() { #expect(hits * 10 >= kept * 9) }
    _ = try CacheInspector(directory: directory.path).verify(.full) { Issue.record("\($0)") }
  }

  @Test(arguments: intervals)
  func `Another list has its share from the third run on`(interval: Double) throws {
    let hits = runs(.changed, part: 50, nights: 7, interval: interval)
    #expect(hits[3] == 0)
    for later in hits[5...] { #expect(later * 10 >= hits[2] * 9) }
  }

  @Test(arguments: intervals)
  func `Two lists in turn have the hits of a fixed subset`(interval: Double) throws {
    let turns = runs(.inTurn, part: 80, nights: 6, interval: interval)
    #expect(turns[2] >= 225 && turns[4] >= 225 && turns[3] > 100 && turns[5] > 100)
  }

  @Test(arguments: intervals) func `A moving window keeps its hits`(interval: Double) {
    let hits = runs(.window, part: 80, nights: 8, interval: interval)
    // A fixed subset would have 224, 174, and at last no hits.
    #expect(hits[1] == 250 && hits[2] == 250 && hits[3] >= 224 && hits[4] >= 174)
    for hits in hits[5...] { #expect(hits >= 225) }
  }

  @Test func `The counters say how many hits a larger cache would have had`() throws {
    _ = runs(.sameOrder, part: 50, nights: 3, interval: 86_400)
    let runs = try CacheInspector(directory: directory.path).runs
    let kept = try CacheInspector(directory: directory.path).statistics(at: Fixtures.start).sources
    #expect(runs.map(\.lost) == [Self.images - kept, Self.images - kept, 0])
    #expect(runs.map(\.declined) == [Self.images - kept, Self.images - kept, Self.images - kept])
    #expect(runs.map(\.evicted) == [0, 0, 0])
  }

  @Test func `What the last runs needed is what a larger limit holds`() throws {
    _ = runs(.changed, part: 50, nights: 6, interval: 86_400)
    let inspector = try CacheInspector(directory: directory.path)
    let shortage = try #require(try inspector.shortage())
    #expect(shortage.runs == 3 && shortage.limit == Self.limit(50))
    // The list of these runs, without the one before it.
    #expect(shortage.bytes > Self.images * 8192 * 9 / 10 && shortage.bytes < Self.images * 8192 * 13 / 10)
    #expect(shortage.hits + shortage.lost == 3 * Self.images - Self.images)

    for night in 6..<8 {
      let list = NightlyLists.changed.nights(8)[night].filter { $0 % 4 == 0 }
      _ = run(list, limit: shortage.suggestedLimit, at: Fixtures.start + Double(night) * 86_400)
    }
    let list = NightlyLists.changed.nights(8)[7].filter { $0 % 4 == 0 }
    #expect(run(list, limit: shortage.suggestedLimit, at: Fixtures.start + 8 * 86_400) == Self.images)
  }

  @Test func `A limit that is raised ends the competition`() throws {
    _ = run(Array(0..<500), limit: Self.limit(50), at: Fixtures.start)
    _ = run(Array(0..<500), limit: Self.limit(400), at: Fixtures.start + 1)
    #expect(run(Array(0..<500), limit: Self.limit(400), at: Fixtures.start + 2) == 500)
    let rows = try DatabaseQueue.patient(directory.path + "/g000001/cache.db").read {
      try Int.fetchOne($0, sql: "SELECT (SELECT count(*) FROM ghost) + (SELECT count(*) FROM reuse)")
    }
    #expect(rows == 0)
  }

  @Test func `A run over a cache with room writes nothing for uses within the hour`() throws {
    _ = run(Array(0..<500), limit: Self.limit(400), at: Fixtures.start)
    let log = CacheDirectory.size(ofFile: directory.path + "/g000001/cache.db-wal")
    _ = run(Array(0..<500), limit: Self.limit(400), at: Fixtures.start + 60)
    #expect(CacheDirectory.size(ofFile: directory.path + "/g000001/cache.db-wal") == log)
  }

  @Test func `The cache knows a bounded number of sources`() throws {
    let cache = ThumbnailCache(diskAt: directory.path, limit: 1 << 20)
    for start in stride(from: 0, to: 12_000, by: 500) {
      cache.store(start..<start + 500, bytes: 6500)
      cache.flush()
    }
    let count = try DatabaseQueue.patient(directory.path + "/g000001/cache.db").read {
      try Int.fetchOne($0, sql: "SELECT count(*) FROM ghost")
    }
    #expect(try 500...1024 ~= #require(count))
    #expect(try CacheInspector(directory: directory.path).statistics(at: Fixtures.start).usedBytes <= 1 << 20)
  }
}
