import Foundation
import Synchronization
import Testing

@testable import ImageCache

@Suite("Free space that the cache leaves to others")
struct FreeSpaceTests {
  private typealias Fixtures = CacheFixtures
  private let directory: CachePlace

  init() throws { directory = try CachePlace() }

  @Test(arguments: [
    (available: 999, whole: 20_000, isShort: true), (1000, 20_000, false), (0, 0, false),
    ((1 << 30) - 1, 1 << 40, true), (1 << 30, 1 << 40, false),
  ])
  func `A file system is short of space below a twentieth of its size, at most 1 GiB`(
    available: Int, whole: Int, isShort: Bool
  ) {
    #expect(FileSystemSpace(available: available, whole: whole).isShort == isShort)
  }

  @Test func `The space on a file system is measured, and is unknown for a missing path`() throws {
    let space = try #require(FileSystemSpace(at: FileManager.default.temporaryDirectory.path))
    #expect(0...space.whole ~= space.available && space.whole > 0)
    #expect(FileSystemSpace(at: directory.path + "/missing") == nil)
  }

  private func batch(_ numbers: Range<Int>) -> Staging.ChangeSet {
    let changes = numbers.map { number in
      let thumbnail = Fixtures.thumbnail(number, bytes: 12_000)
      let change = Staging.Change(source: Fixtures.source(number), thumbnails: [thumbnail.spec: thumbnail])
      return (key: Fixtures.key(number), change: change)
    }
    return Staging.ChangeSet(changes: changes, used: [])
  }

  private func usedBytes() throws -> Int {
    try CacheInspector(directory: directory.path).statistics(at: Fixtures.start).usedBytes
  }

  /// Returns a store on a file system with `available` bytes left.
  private func store(limit: Int = 4 << 20, _ available: AvailableBytes) -> DiskStore {
    DiskStore(CacheDirectory(path: directory.path), byteLimit: limit) { _ in
      FileSystemSpace(available: available.value, whole: 100 << 30)
    }
  }

  private final class AvailableBytes: Sendable {
    private let bytes = Mutex(10 << 30)
    var value: Int {
      get { bytes.withLock { $0 } }
      set { bytes.withLock { $0 = newValue } }
    }
  }

  private func count(_ numbers: Range<Int>) throws -> Int {
    let inspector = try CacheInspector(directory: directory.path)
    return try numbers.count { try inspector.source(of: Fixtures.key($0)) != nil }
  }

  @Test func `A full cache stays full during a shortage of space and stores new entries after it`() throws {
    let available = AvailableBytes()
    var store = store(available)
    defer { store.close() }
    for round in 0..<10 { _ = try store.write(batch(round * 60..<round * 60 + 60), now: round) }
    let (before, entries) = (try usedBytes(), try count(0..<600))

    #expect(before > 3 << 20 && entries * 12_000 > before / 2)

    available.value = 1 << 29
    for round in 10..<50 {
      let outcome = try store.write(batch(round * 60..<round * 60 + 60), now: round)
      #expect(outcome.eviction.rows == 0)
      #expect(try usedBytes() <= before)
    }
    #expect(try count(0..<600) == entries)
    #expect(try CacheInspector(directory: directory.path).verify(.full) { _ in }.problems == 0)

    available.value = 10 << 30
    // Sources that come back again and again replace the rest.
    for round in 0..<12 {
      #expect(try store.write(batch(3000 + round % 3 * 60..<3060 + round % 3 * 60), now: 50 + round).refused == 0)
    }
    // A few may be declined until the next round.
    #expect(try count(3000..<3180) > 160)
  }

  @Test func `Processes that come and go during a shortage of space leave a full cache full`() throws {
    let available = AvailableBytes()
    var first = store(available)
    for round in 0..<10 { _ = try first.write(batch(round * 60..<round * 60 + 60), now: round) }
    first.close()
    let entries = try count(0..<600)
    available.value = 0
    for round in 10..<30 {
      var store = store(available)
      #expect(try store.write(batch(round * 60..<round * 60 + 60), now: round).eviction.rows == 0)
      store.close()
    }

    #expect(try count(0..<600) == entries)
  }

  @Test func `During a shortage of space entries can be updated and removed, and freed space is reused`() throws {
    let available = AvailableBytes()
    var store = store(available)
    defer { store.close() }
    _ = try store.write(batch(0..<60), now: 0)
    available.value = 0

    #expect(try store.write(batch(60..<70), now: 1).refused == 10)

    let updated = Fixtures.source(3, policy: Fixtures.policy("max-age=9"))
    let removals = (10..<20).map { (key: Fixtures.key($0), change: Staging.Change(source: nil)) }
    let changes = [(key: Fixtures.key(3), change: Staging.Change(source: updated))] + removals
    #expect(try store.write(Staging.ChangeSet(changes: changes, used: []), now: 2).refused == 0)

    let inspector = try CacheInspector(directory: directory.path)
    #expect(try inspector.source(of: Fixtures.key(3))?.source == updated)
    #expect(try inspector.source(of: Fixtures.key(10)) == nil)
    // Rows share pages, so that not quite as many fit as were removed.
    #expect(try store.write(batch(80..<87), now: 3).refused == 0)
    #expect(try count(0..<100) == 57)
  }

  @Test func `If the free space is unknown, only the limit of the cache applies`() throws {
    var store = DiskStore(CacheDirectory(path: directory.path), byteLimit: 1 << 30) { _ in nil }
    defer { store.close() }

    for round in 0..<3 { #expect(try store.write(batch(round * 60..<round * 60 + 60), now: round).eviction.rows == 0) }
    #expect(try usedBytes() > 2 << 20)
  }
}
