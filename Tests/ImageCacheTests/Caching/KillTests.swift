import Foundation
import GRDB
import Testing

@testable import ImageCache

@Suite("kill -9: what was flushed is there, the rest is right or missing")
struct KillTests {
  private typealias Fixtures = CacheFixtures
  private static let flushed = 50

  /// Each child dies after another number of writes, while its writer thread is somewhere in its batches.
  @Test(arguments: [0, 1, 63, 64, 65, 130, 200, 300, 500, 800])
  func killed(writes: Int) async throws {
    let directory = TemporaryDirectory()
    let path = directory.path
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, writes = writes as Int] in
      let cache = ThumbnailCache(diskAt: path)
      for number in 0..<Self.flushed + writes {
        cache.store(Fixtures.source(number), thumbnails: [Fixtures.thumbnail(number)], for: Fixtures.key(number))
        if number == Self.flushed - 1 { cache.flush() }
      }
      kill(getpid(), SIGKILL)
    }
    let cache = ThumbnailCache(diskAt: path)
    for number in 0..<Self.flushed + writes {
      let entry = cache.entry(for: Fixtures.key(number), url: Fixtures.url(number), specs: [Fixtures.spec])
      #expect(entry != nil || number >= Self.flushed)
      if let entry { #expect(entry.thumbnails == [Fixtures.spec: Fixtures.thumbnail(number)]) }
    }
    #expect(cache.counters.errors.isEmpty)
    let report = try await DatabaseQueue(path: CacheDirectory(path: path).databasePath(1)).read {
      try String.fetchAll($0, sql: "PRAGMA integrity_check")
    }
    #expect(report == ["ok"])
  }
}
