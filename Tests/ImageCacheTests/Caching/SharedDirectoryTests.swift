import Dispatch
import Foundation
import GRDB
import TestSupport
import Testing

@testable import ImageCache

@Suite("Several caches on one directory")
struct SharedDirectoryTests {
  private typealias Fixtures = CacheFixtures
  private let directory: CachePlace

  init() throws { directory = try CachePlace() }

  @Test func `Concurrent caches get correct entries and no errors, and the database stays intact`() throws {
    let caches = (0..<4).map { _ in ThumbnailCache(diskAt: directory.path, limit: 1 << 20) }
    DispatchQueue.concurrentPerform(iterations: caches.count) { index in
      work(on: caches[index], seed: UInt64(index))
    }
    for cache in caches {
      #expect(cache.counters.errors.isEmpty)
      let (hits, misses) = (cache.counters.memoryHits + cache.counters.diskHits, cache.counters.misses)
      #expect(hits > misses / 3, "\(hits) hits, \(misses) misses")
    }
    let number = try #require(try CacheDirectory(path: directory.path).currentGeneration())
    let database = CacheDirectory(path: directory.path).databasePath(number)
    let report = try DatabaseQueue.patient(database).read { try String.fetchAll($0, sql: "PRAGMA integrity_check") }

    #expect(report == ["ok"])

    let orphans = try DatabaseQueue.patient(database).read { database in
      try Int.fetchOne(
        database, sql: "SELECT count(*) FROM slot WHERE id IS NOT NULL AND id NOT IN (SELECT id FROM item)")
    }
    #expect(orphans == 0)
  }

  private func work(on cache: ThumbnailCache, seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<1500 {
      let number = Int.random(in: 0..<200, using: &generator)
      switch Int.random(in: 0..<20, using: &generator) {
      case 0: cache.remove(Fixtures.key(number))
      case 1: cache.flush()
      case 2...6:
        cache.store(Fixtures.source(number), thumbnails: [Fixtures.thumbnail(number)], for: Fixtures.key(number))
      default:
        let entry = cache.entry(for: Fixtures.key(number), url: Fixtures.url(number), specs: [Fixtures.spec])
        guard let thumbnail = entry?.thumbnails[Fixtures.spec] else { continue }
        #expect(thumbnail == Fixtures.thumbnail(number))
      }
    }
    cache.flush()
  }

  @Test func `An entry flushed by one cache is found by another`() {
    let (writer, reader) = (ThumbnailCache(diskAt: directory.path), ThumbnailCache(diskAt: directory.path))
    writer.store(Fixtures.source(1), thumbnails: [Fixtures.thumbnail(1)], for: Fixtures.key(1))
    writer.flush()
    let entry = reader.entry(for: Fixtures.key(1), url: Fixtures.url(1), specs: [Fixtures.spec])

    #expect(entry?.thumbnails == [Fixtures.spec: Fixtures.thumbnail(1)])
  }

  @Test func `A running cache continues in a new generation after the directory is cleared`() throws {
    let cache = ThumbnailCache(diskAt: directory.path)
    cache.store(Fixtures.source(1), thumbnails: [Fixtures.thumbnail(1)], for: Fixtures.key(1))
    cache.flush()
    try CacheMaintenance.clear(directory: directory.path)
    cache.store(Fixtures.source(2), thumbnails: [Fixtures.thumbnail(2)], for: Fixtures.key(2))
    cache.flush()

    #expect(cache.entry(for: Fixtures.key(1), url: Fixtures.url(1), specs: []) == nil)
    #expect(cache.entry(for: Fixtures.key(2), url: Fixtures.url(2), specs: []) != nil)
    #expect(cache.counters.errors.isEmpty)

    try CacheMaintenance.clear(directory: directory.path)
    #expect(try CacheInspector(directory: directory.path).statistics(at: Fixtures.start).sources == 0)
  }

  @Test func `An old generation is removed once no cache uses it`() throws {
    do {
      let cache = ThumbnailCache(diskAt: directory.path)
      cache.store(Fixtures.source(1), thumbnails: [], for: Fixtures.key(1))
      cache.flush()
      try CacheMaintenance.clear(directory: directory.path)
      #expect(directory.files.contains("g000001"))
    }
    try CacheMaintenance.clear(directory: directory.path)

    #expect(directory.files.filter { $0.hasPrefix("g") && !$0.contains("/") } == ["g000003"])
  }
}
