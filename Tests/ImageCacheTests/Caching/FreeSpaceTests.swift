import Foundation
import Synchronization
import Testing

@testable import ImageCache

@Suite("What the cache leaves to others")
struct FreeSpaceTests {
  private typealias Fixtures = CacheFixtures
  private let directory = TemporaryDirectory()

  @Test(
    "A twentieth of the file system, at most 1 GiB",
    arguments: [
      (available: 999, whole: 20_000, isShort: true), (1000, 20_000, false), (0, 0, false),
      ((1 << 30) - 1, 1 << 40, true), (1 << 30, 1 << 40, false),
    ])
  func share(available: Int, whole: Int, isShort: Bool) {
    #expect(FileSystemSpace(available: available, whole: whole).isShort == isShort)
  }

  @Test("The system says how much room there is, and not where nothing is")
  func system() throws {
    let space = try #require(FileSystemSpace(at: FileManager.default.temporaryDirectory.path))
    #expect(0...space.whole ~= space.available && space.whole > 0)
    #expect(FileSystemSpace(at: directory.path + "/missing") == nil)
  }

  private func batch(_ numbers: Range<Int>) -> Staging.Batch {
    let changes = numbers.map { number in
      let thumbnail = Fixtures.thumbnail(number, bytes: 12_000)
      let change = Staging.Change(source: Fixtures.source(number), thumbnails: [thumbnail.spec: thumbnail])
      return (key: Fixtures.key(number), change: change)
    }
    return Staging.Batch(changes: changes, used: [])
  }

  private func usedBytes() throws -> Int {
    try CacheInspector(directory: directory.path).statistics(at: Fixtures.start).usedBytes
  }

  @Test("While room is short the cache does not grow, and what is new takes the place of what is old")
  func shortOfSpace() throws {
    let available = Mutex(10 << 30)
    var store = DiskStore(CacheDirectory(path: directory.path), byteLimit: 1 << 30) { _ in
      FileSystemSpace(available: available.withLock { $0 }, whole: 100 << 30)
    }
    defer { store.close() }
    for round in 0..<10 {
      #expect(try store.write(batch(round * 60..<round * 60 + 60), now: round).evicted == 0)
    }
    let before = try usedBytes()
    available.withLock { $0 = 1 << 29 }
    for round in 10..<14 {
      #expect(try store.write(batch(round * 60..<round * 60 + 60), now: round).evicted > 0)
      #expect(try usedBytes() <= before)
    }
    let inspector = try CacheInspector(directory: directory.path)
    #expect(try inspector.source(of: Fixtures.key(0)) == nil)
    #expect(try inspector.source(of: Fixtures.key(839)) != nil)
    let shrunk = try usedBytes()
    available.withLock { $0 = 10 << 30 }
    #expect(try store.write(batch(840..<900), now: 14).evicted == 0)
    #expect(try usedBytes() > shrunk)
  }

  @Test("Where the system says nothing, the cache's own limit holds")
  func unknownSpace() throws {
    var store = DiskStore(CacheDirectory(path: directory.path), byteLimit: 1 << 30) { _ in nil }
    defer { store.close() }
    for round in 0..<3 { #expect(try store.write(batch(round * 60..<round * 60 + 60), now: round).evicted == 0) }
    #expect(try usedBytes() > 2 << 20)
  }
}
