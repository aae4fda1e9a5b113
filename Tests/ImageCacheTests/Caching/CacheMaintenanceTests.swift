import Foundation
import GRDB
import Testing

@testable import ImageCache

@Suite("Maintenance of a cache in use")
struct CacheMaintenanceTests {
  private typealias Fixtures = CacheFixtures
  private let directory: CachePlace

  init() throws { directory = try CachePlace() }

  private var database: String { directory.path + "/g000001/cache.db" }

  private func store(_ numbers: Range<Int>, in cache: ThumbnailCache, bytes: Int = 12_000) {
    for number in numbers {
      let thumbnail = Fixtures.thumbnail(number, bytes: bytes)
      cache.store(Fixtures.source(number), thumbnails: [thumbnail], for: Fixtures.key(number))
    }
    cache.flush()
  }

  private func statistics() throws -> CacheStatistics {
    try CacheInspector(directory: directory.path).statistics(at: Fixtures.start)
  }

  @Test func `A running cache applies a lowered limit from its next batch on`() throws {
    let cache = ThumbnailCache(diskAt: directory.path, limit: 64 << 20)
    store(0..<300, in: cache)
    let before = try statistics().usedBytes
    try CacheMaintenance.setLimit(1 << 20, directory: directory.path)
    store(300..<301, in: cache)

    #expect(before > 3 << 20)
    #expect(try statistics().usedBytes <= 1 << 20)
    #expect(cache.counters.evicted > 200)
  }

  @Test func `The lower of the stored and the configured limit applies, and 2 GiB without either`() throws {
    store(0..<1, in: ThumbnailCache(diskAt: directory.path))
    let place = CacheDirectory(path: directory.path)
    #expect(try DiskStore(place, byteLimit: nil).limit() == 2 << 30)
    #expect(try DiskStore(place, byteLimit: 5 << 30).limit() == 5 << 30)

    try CacheMaintenance.setLimit(3 << 30, directory: directory.path)
    #expect(try DiskStore(place, byteLimit: nil).limit() == 3 << 30)
    #expect(try DiskStore(place, byteLimit: 5 << 30).limit() == 3 << 30)
    #expect(try DiskStore(place, byteLimit: 1 << 20).limit() == 1 << 20)

    try CacheMaintenance.setLimit(nil, directory: directory.path)
    #expect(try CacheMaintenance.limit(directory: directory.path) == nil)

    try "rubbish".write(toFile: directory.path + "/LIMIT", atomically: false, encoding: .utf8)
    #expect(try DiskStore(place, byteLimit: nil).limit() == 2 << 30)
  }

  @Test func `Pruning keeps the most recently used sources and shrinks the file of a running cache`() throws {
    let cache = ThumbnailCache(diskAt: directory.path)
    store(0..<400, in: cache)
    _ = try CacheMaintenance.prune(directory: directory.path)
    let before = try statistics()
    let victims = try CacheInspector(directory: directory.path).leastRecentlyUsed(above: 2 << 20)
    let removed = try CacheMaintenance.prune(directory: directory.path, downTo: 2 << 20)
    let after = try statistics()

    #expect(after.sources == 400 - removed)
    #expect(after.usedBytes <= 2 << 20)
    #expect(after.databaseBytes < before.databaseBytes / 2)
    #expect(abs(victims.sources - removed) < 20)
    #expect(cache.counters.errors.isEmpty)

    store(1000..<1010, in: cache)
    #expect(try statistics().sources == after.sources + 10)
  }

  @Test(arguments: [800, 12_000, 60_000], [2, 3, 10])
  func `A rehearsal removes nothing, and says exactly what a prune removes`(bytes: Int, divisor: Int) throws {
    let cache = ThumbnailCache(diskAt: directory.path)
    store(0..<300, in: cache, bytes: bytes)
    let before = try statistics()
    let limit = before.usedBytes / divisor
    let rehearsal = try CacheMaintenance.rehearsePrune(directory: directory.path, downTo: limit)
    #expect(try statistics().sources == 300 && statistics().usedBytes == before.usedBytes)
    #expect(try CacheInspector(directory: directory.path).verify(.full) { _ in }.problems == 0)

    #expect(try CacheMaintenance.prune(directory: directory.path, downTo: limit) == rehearsal.sources)
    let after = try statistics()
    #expect(after.sources == 300 - rehearsal.sources && !rehearsal.isEstimate)
    // Returning pages to the file system frees some more.
    let freed = before.usedBytes - after.usedBytes
    #expect(freed >= rehearsal.bytes && freed - rehearsal.bytes <= 1 << 16)
    store(1000..<1010, in: cache)
    #expect(try statistics().sources == after.sources + 10 && cache.counters.errors.isEmpty)
  }

  @Test func `An estimate counts each source once, even if its last check was later than the uses of its thumbnails`()
    throws
  {
    store(0..<50, in: ThumbnailCache(diskAt: directory.path))
    let later = Fixtures.start + 3700
    let cache = ThumbnailCache(diskAt: directory.path, now: { later })
    for number in 0..<50 {
      cache.update(Fixtures.source(number, policy: Fixtures.policy(at: later)), for: Fixtures.key(number))
    }
    cache.flush()

    let inspector = try CacheInspector(directory: directory.path)
    #expect(try inspector.leastRecentlyUsed(above: 1, at: later).sources == 50)
  }

  @Test func `Removing sources by key removes no others`() throws {
    let cache = ThumbnailCache(diskAt: directory.path)
    store(0..<200, in: cache, bytes: 2000)
    try CacheMaintenance.remove((0..<150).map(Fixtures.key) + [Fixtures.key(9999)], directory: directory.path)
    let inspector = try CacheInspector(directory: directory.path)

    #expect(try statistics().sources == 50)
    #expect(try inspector.source(of: Fixtures.key(149)) == nil)
    #expect(try inspector.source(of: Fixtures.key(150)) != nil)
    #expect(try inspector.verify(.full) { _ in }.problems == 0)
  }

  @Test func `The first digits of a key are enough to find its source`() throws {
    store(0..<50, in: ThumbnailCache(diskAt: directory.path), bytes: 100)
    let inspector = try CacheInspector(directory: directory.path)
    for number in [0, 17, 49] {
      let key = Fixtures.key(number)
      #expect(try inspector.sources(withPrefix: String(key.description.prefix(9))).map(\.key) == [key])
      #expect(SourceKey(key.description) == key)
      let all = (0..<50).map(Fixtures.key).filter { $0.description.hasPrefix(key.description.prefix(1)) }
      #expect(
        try inspector.sources(withPrefix: String(key.description.prefix(1)), limit: 99).map(\.key) == all.sorted())
    }
    for text in ["", "g", "-1", "+1", " ", String(repeating: "0", count: 33)] {
      #expect(try inspector.sources(withPrefix: text).isEmpty)
    }
  }

  private static let third = RowNumber.source(CacheFixtures.key(3))
  private static let itsThumbnail = "id BETWEEN \(third + 1) AND \(third + 32765)"

  @Test(arguments: [
    ("UPDATE item SET body = zeroblob(length(body)) WHERE \(itsThumbnail)", [CacheProblem.Code.badThumbnail]),
    ("UPDATE item SET record = zeroblob(80) WHERE \(itsThumbnail)", [.badThumbnail]),
    ("UPDATE item SET record = zeroblob(200) WHERE id = \(third)", [.badSource]),
    ("UPDATE slot SET bytes = 7 WHERE \(itsThumbnail)", [.wrongCount]),
    ("UPDATE slot SET fresh_until = 7 WHERE id = \(third)", [.wrongCount]),
    ("UPDATE slot SET fresh_until = NULL WHERE id = \(third)", [.wrongCount]),
    ("DELETE FROM slot WHERE id = \(third)", [.wrongCount]),
    ("UPDATE item SET slot = -5 WHERE id = \(third)", [.wrongCount, .wrongTotal]),
    ("DELETE FROM item WHERE id = \(third)", [.orphans, .wrongTotal]),
    ("DELETE FROM item WHERE \(itsThumbnail)", [.wrongTotal]),
    ("INSERT INTO slot VALUES (1000, 77, 0, NULL)", [.wrongTotal]),
  ])
  func `Verification names each kind of damage, and its repair keeps the other sources`(
    sql: String, codes: [CacheProblem.Code]
  ) throws {
    store(0..<10, in: ThumbnailCache(diskAt: directory.path), bytes: 500)
    try DatabaseQueue.patient(database).write { try $0.execute(sql: sql) }
    var found: [CacheProblem] = []
    let result = try CacheInspector(directory: directory.path).verify(.full) { found.append($0) }

    #expect(found.map(\.code) == codes)
    #expect(result.problems == codes.count)

    try CacheMaintenance.repair(found, directory: directory.path)
    #expect(try CacheInspector(directory: directory.path).verify(.full) { _ in }.problems == 0)
    #expect(try statistics().sources >= 9)
  }

  @Test func `Thumbnails from another renderer are removed once their source has new ones`() throws {
    let cache = ThumbnailCache(diskAt: directory.path)
    store(0..<3, in: cache, bytes: 500)
    try StoredRowEditor(directory).outdateThumbnails()
    cache.update(Fixtures.source(0), for: Fixtures.key(0))
    store(1..<3, in: cache, bytes: 500)
    let result = try CacheInspector(directory: directory.path).verify(.full) { _ in }

    #expect((result.outdated, result.thumbnails, result.problems) == (1, 2, 0))
    #expect(try statistics().thumbnails == 3)
  }

  @Test func `Thumbnails from another renderer count as outdated, not as problems`() throws {
    store(0..<3, in: ThumbnailCache(diskAt: directory.path), bytes: 500)
    try StoredRowEditor(directory).outdateThumbnails()
    let result = try CacheInspector(directory: directory.path).verify(.full) { _ in }

    #expect((result.outdated, result.thumbnails, result.problems) == (3, 0, 0))
  }
}
