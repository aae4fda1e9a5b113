import Foundation
import Synchronization
import Testing

@testable import ImageCache

@Suite("The numbers of the last runs")
struct CacheRunTests {
  private typealias Fixtures = CacheFixtures
  private let directory: CachePlace

  init() throws { directory = try CachePlace() }

  /// Stores an entry, looks up `lookups` entries of which one exists, and records the run.
  private func run(_ number: Int, lookups: Int = 2) {
    let cache = ThumbnailCache(diskAt: directory.path, now: { Fixtures.start + Double(number) })
    cache.store(Fixtures.source(number), thumbnails: [Fixtures.thumbnail(number)], for: Fixtures.key(number))
    cache.flush()
    for other in number..<number + lookups {
      _ = cache.entry(for: Fixtures.key(other), url: Fixtures.url(other), specs: [Fixtures.spec])
    }
    cache.recordRun()
  }

  private func runs() throws -> [CacheRun] { try CacheInspector(directory: directory.path).runs }

  @Test func `The last twenty runs are kept, newest first`() throws {
    for number in 0..<25 { run(number) }
    let runs = try runs()

    #expect(runs.map(\.ended) == (5..<25).reversed().map { Fixtures.start + Double($0) })
    #expect(runs.allSatisfy { ($0.diskHits, $0.misses, $0.written, $0.memoryHits) == (1, 1, 1, 0) })
    #expect(directory.files.contains("RUNS") && !directory.files.contains("RUNS.new"))
  }

  @Test func `Evictions are recorded`() throws {
    let cache = ThumbnailCache(diskAt: directory.path, limit: 1 << 20)
    for number in 0..<600 {
      cache.store(Fixtures.source(number), thumbnails: [Fixtures.thumbnail(number)], for: Fixtures.key(number))
    }
    cache.flush()
    _ = cache.entry(for: Fixtures.key(0), url: Fixtures.url(0), specs: [])
    cache.recordRun()
    let smaller = ThumbnailCache(diskAt: directory.path, limit: 1 << 19)
    smaller.store(0..<1)
    smaller.flush()
    _ = smaller.entry(for: Fixtures.key(0), url: Fixtures.url(0), specs: [])
    smaller.recordRun()

    #expect(try runs().map(\.evicted) == [smaller.counters.evicted, 0] && smaller.counters.evicted > 0)
    #expect(try runs().map(\.declined) == [smaller.counters.declined, cache.counters.declined])
    #expect(cache.counters.declined > 0)
  }

  @Test func `A run without a cache, without lookups or with a busy lock records nothing`() throws {
    let cache = ThumbnailCache(diskAt: directory.path)
    _ = cache.entry(for: Fixtures.key(0), url: Fixtures.url(0), specs: [])
    cache.recordRun()
    #expect(directory.files.isEmpty)

    run(0, lookups: 0)
    #expect(try runs().isEmpty)

    try FileLock(creating: directory.path + "/lock").withLock { () throws(DiskCacheError) in cache.recordRun() }
    #expect(try runs().isEmpty)
  }

  @Test(arguments: ["", "rubbish\n", "1 2 3\n", "1 2 3 4 5 6 -7\n", "9223372036854775807 0 0 0 0 0 0\n", "\u{0}\u{ff}"])
  func `A damaged file is ignored and replaced`(text: String) throws {
    run(0)
    try text.write(toFile: directory.path + "/RUNS", atomically: false, encoding: .utf8)
    #expect(try runs().isEmpty)

    run(1)
    #expect(try runs().count == 1)
  }

  @Test func `A run survives clearing the cache`() throws {
    run(0)
    try CacheMaintenance.clear(directory: directory.path)
    #expect(try runs().count == 1)
  }
}
