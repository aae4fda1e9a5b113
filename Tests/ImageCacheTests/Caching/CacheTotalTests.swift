import Foundation
import GRDB
import Testing

@testable import ImageCache

@Suite("The totals that statistics show")
struct CacheTotalTests {
  private typealias Fixtures = CacheFixtures
  private let directory = TemporaryDirectory()

  /// What `CacheStatistics` must say, counted source by source.
  private func counted(at now: Date) throws -> [Int] {
    try DatabaseQueue(path: directory.path + "/g000001/cache.db").read { database in
      let row = try Row.fetchOne(
        database,
        sql: """
          SELECT count(*), count(failure_code), count(*) FILTER (WHERE failure_code IS NULL AND fresh_until > ?),
            (SELECT count(*) FROM thumbnail), (SELECT coalesce(sum(length), 0) FROM thumbnail)
          FROM source
          """, arguments: [now.wholeSeconds])
      return row.map { row in row.databaseValues.compactMap { Int.fromDatabaseValue($0) } } ?? []
    }
  }

  private func stated(at now: Date) throws -> [Int] {
    let statistics = try CacheInspector(directory: directory.path).statistics(at: now)
    return [
      statistics.sources, statistics.failures, statistics.freshSources, statistics.thumbnails,
      statistics.thumbnailBytes,
    ]
  }

  private func source(_ number: Int, _ generator: inout SplitMix) -> StoredSource {
    if Int.random(in: 0..<4, using: &generator) == 0 { return Fixtures.failure(number) }
    let policy = Fixtures.policy("max-age=\(Int.random(in: 1...6, using: &generator) * 600)")
    return Fixtures.source(number, body: ["a", "b"].randomElement(using: &generator) ?? "", policy: policy)
  }

  private func change(_ cache: ThumbnailCache, _ generator: inout SplitMix) {
    let number = Int.random(in: 0..<60, using: &generator)
    if Int.random(in: 0..<5, using: &generator) == 0 { return cache.remove(Fixtures.key(number)) }
    let source = source(number, &generator)
    let specs = [32, 64, 128].map { ThumbnailSpec(width: $0) }.filter { _ in Bool.random(using: &generator) }
    let thumbnails = specs.map {
      Fixtures.thumbnail(number, spec: $0, bytes: Int.random(in: 1...30_000, using: &generator))
    }
    if case .failure = source.content {
      cache.store(source, thumbnails: [], for: Fixtures.key(number))
    } else {
      cache.store(source, thumbnails: thumbnails, for: Fixtures.key(number))
    }
  }

  @Test("They are those of the rows after any number of changes, evictions included", arguments: 0..<4)
  func agreement(seed: Int) throws {
    var generator = SplitMix(state: UInt64(seed))
    let cache = ThumbnailCache(diskAt: directory.path, limit: 1 << 20)
    for _ in 0..<40 {
      for _ in 0..<Int.random(in: 1...40, using: &generator) { change(cache, &generator) }
      cache.flush()
      for seconds in [0, 600, 1200, 3000, 3600] {
        let now = Fixtures.start + Double(seconds)
        #expect(try stated(at: now) == counted(at: now))
      }
    }
    #expect(cache.counters.evicted > 0)
    #expect(cache.counters.errors.isEmpty)
    #expect(try CacheInspector(directory: directory.path).verify(.quick) { _ in }.problems == 0)
  }

  @Test("A moment of expiry without sources leaves nothing behind")
  func noEmptyTotals() throws {
    let cache = ThumbnailCache(diskAt: directory.path)
    for number in 0..<20 {
      cache.store(
        Fixtures.source(number, policy: Fixtures.policy("max-age=\(number)")), thumbnails: [],
        for: Fixtures.key(number))
    }
    cache.flush()
    for number in 0..<20 { cache.remove(Fixtures.key(number)) }
    cache.flush()
    let rows = try DatabaseQueue(path: directory.path + "/g000001/cache.db").read {
      try Int.fetchOne($0, sql: "SELECT count(*) FROM total")
    }
    #expect(rows == 0)
  }
}
