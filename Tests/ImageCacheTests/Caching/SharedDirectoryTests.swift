import Dispatch
import Foundation
import GRDB
import Testing

@testable import ImageCache

@Suite("Several caches on one directory, as several processes would be")
struct SharedDirectoryTests {
  private typealias Fixtures = CacheFixtures
  private let directory = TemporaryDirectory()

  @Test("Mixed work of four caches: no error reaches a caller, every answer is right, the database is whole")
  func mixedWork() throws {
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
    let report = try DatabaseQueue(path: database).read { try String.fetchAll($0, sql: "PRAGMA integrity_check") }
    #expect(report == ["ok"])
    let orphans = try DatabaseQueue(path: database).read { database in
      try Int.fetchOne(
        database, sql: "SELECT count(*) FROM blob WHERE id NOT IN (SELECT blob_id FROM thumbnail)")
    }
    #expect(orphans == 0)
  }

  private func work(on cache: ThumbnailCache, seed: UInt64) {
    var generator = SplitMix(state: seed)
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

  @Test("What one cache flushed, the other finds")
  func visibility() {
    let (writer, reader) = (ThumbnailCache(diskAt: directory.path), ThumbnailCache(diskAt: directory.path))
    writer.store(Fixtures.source(1), thumbnails: [Fixtures.thumbnail(1)], for: Fixtures.key(1))
    writer.flush()
    let entry = reader.entry(for: Fixtures.key(1), url: Fixtures.url(1), specs: [Fixtures.spec])
    #expect(entry?.thumbnails == [Fixtures.spec: Fixtures.thumbnail(1)])
  }

  @Test("Clearing swaps the generation under a running cache, which goes on in the new one")
  func clearing() throws {
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

  @Test("The last cache to use an old generation is followed by its removal")
  func oldGenerationsGo() throws {
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
