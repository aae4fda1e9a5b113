import Foundation
import GRDB
import TestSupport
import Testing

@testable import ImageCache

@Suite("The totals in the statistics of a cache")
struct CacheTotalTests {
  private typealias Fixtures = CacheFixtures
  private let directory: CachePlace

  init() throws { directory = try CachePlace() }

  /// Returns the expected statistics, counted source by source.
  private func counted(at now: Date) throws -> [Int] {
    var counts = [0, 0, 0, 0, 0]
    try CacheInspector(directory: directory.path).forEachSource { source in
      counts[0] += 1
      counts[1] += source.state(at: now) == .failed ? 1 : 0
      counts[2] += source.state(at: now) == .fresh ? 1 : 0
      counts[3] += source.thumbnails.count
      counts[4] += source.bytes
    }
    return counts
  }

  private func stated(at now: Date) throws -> [Int] {
    let statistics = try CacheInspector(directory: directory.path).statistics(at: now)
    return [
      statistics.sources, statistics.failures, statistics.freshSources, statistics.thumbnails,
      statistics.thumbnailBytes,
    ]
  }

  private func source(_ number: Int, _ generator: inout SeededGenerator) -> StoredSource {
    if Int.random(in: 0..<4, using: &generator) == 0 { return Fixtures.failure(number) }
    let policy = Fixtures.policy("max-age=\(Int.random(in: 1...6, using: &generator) * 600)")
    return Fixtures.source(number, body: ["a", "b"].randomElement(using: &generator) ?? "", policy: policy)
  }

  private func change(_ cache: ThumbnailCache, _ generator: inout SeededGenerator) {
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

  @Test(arguments: 0..<4)
  func `The totals match the rows after any number of changes and evictions`(seed: Int) throws {
    var generator = SeededGenerator(seed: UInt64(seed))
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

  @Test func `Removed rows leave free slots, which later rows take`() throws {
    let cache = ThumbnailCache(diskAt: directory.path)
    for _ in 0..<5 {
      cache.store(0..<20, bytes: 100)
      cache.flush()
      for number in 0..<20 { cache.remove(Fixtures.key(number)) }
      cache.flush()
    }
    let rows = StoredRowEditor(directory)

    #expect(try rows.count("SELECT count(*) FROM item") == 0)
    #expect(try rows.count("SELECT count(*) FROM slot") == 40)
    #expect(try rows.count("SELECT count(*) FROM slot WHERE id IS NULL") == 40)
  }
}
