import CPowerLoss
import Foundation
import TestSupport
import Testing

@testable import ImageCache

@Suite("Power failures", .timeLimit(.minutes(20)))
struct PowerLossTests {
  private typealias Fixtures = CacheFixtures
  private static let kept = 0..<300
  private static let written = 300..<900
  private static let bytes = 6000

  /// Cuts the power at different moments, 24 of them or as many as `THUMBS_KILL_ROUNDS` sets. Each time, a random part
  /// of the writes that were not synced is lost.
  @Test(arguments: 0..<CacheFixtures.count(of: "THUMBS_KILL_ROUNDS", otherwise: 24))
  func `After a power failure a full cache is intact and still full`(round: Int) async throws {
    let directory = try CachePlace()
    let (path, copies) = (directory.path, directory.path + ".copies")
    try FileManager.default.createDirectory(atPath: copies, withIntermediateDirectories: true)
    Self.fill(path)
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = path as String, copies = copies as String, round = round as Int] in
      Self.writeUntilPowerFails(path, copies, round: round)
    }
    try Self.restart(path, copies)
    var problems: [CacheProblem] = []
    _ = try CacheInspector(directory: path).verify(.full) { problems.append($0) }

    #expect(problems.isEmpty)
    #expect(try String(contentsOfFile: path + "/CURRENT", encoding: .utf8) == "g1\n")

    let cache = ThumbnailCache(diskAt: path)
    #expect(cache.checkedHits(Self.kept, bytes: Self.bytes) == Self.kept.count)
    _ = cache.checkedHits(Self.written, bytes: Self.bytes)

    cache.store(1000..<1010, bytes: Self.bytes)
    cache.flush()
    #expect(cache.checkedHits(1000..<1010, bytes: Self.bytes) == 10)
    #expect(cache.counters.errors.isEmpty)
  }

  /// Fills a cache and closes it, which syncs everything.
  private static func fill(_ path: String) {
    let cache = ThumbnailCache(diskAt: path)
    cache.store(kept, bytes: bytes)
    cache.flush()
  }

  private static func writeUntilPowerFails(_ path: String, _ copies: String, round: Int) -> Never {
    #expect(power_loss_install(copies) == 0)
    var generator = SeededGenerator(seed: UInt64(round))
    // A small limit makes checkpoints frequent.
    let cache = ThumbnailCache(diskAt: path, limit: 16 << 20)
    power_loss_after(Int32.random(in: 1...3000, using: &generator), UInt32(round))
    while true {
      let number = Int.random(in: written, using: &generator)
      switch Int.random(in: 0..<200, using: &generator) {
      case 0...8: cache.flush()
      case 9: try? CacheMaintenance.remove([Fixtures.key(number)], directory: path)
      case 10...30: cache.remove(Fixtures.key(number))
      default: cache.store(number..<number + 1, bytes: bytes)
      }
    }
  }

  /// Puts the files as they survive the power failure in place. The index of the log is in memory only.
  private static func restart(_ path: String, _ copies: String) throws {
    for name in ["cache.db", "cache.db-wal"] {
      let (copy, file) = (copies + "/g000001-" + name, path + "/g000001/" + name)
      // The failure may come before SQLite opens the log.
      guard FileManager.default.fileExists(atPath: copy) else { continue }
      try FileManager.default.removeItem(atPath: file)
      try FileManager.default.moveItem(atPath: copy, toPath: file)
    }
    try? FileManager.default.removeItem(atPath: path + "/g000001/cache.db-shm")
  }
}
