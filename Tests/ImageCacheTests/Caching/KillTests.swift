import Dispatch
import Foundation
import TestSupport
import Testing

@testable import ImageCache

@Suite("Processes killed with SIGKILL")
struct KillTests {
  private typealias Fixtures = CacheFixtures
  private static let flushed = 0..<50
  private static let written = 50..<450

  /// Kills child processes at different moments of their work, 12 of them or as many as `THUMBS_KILL_ROUNDS` sets.
  @Test(arguments: 0..<CacheFixtures.count(of: "THUMBS_KILL_ROUNDS", otherwise: 12))
  func `After a kill the flushed entries are present, and the others are intact or missing`(round: Int) async throws {
    let directory = try CachePlace()
    let path = directory.path
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, round = round as Int] in
      Self.writeUntilKilled(path, round: round)
    }

    let inspector = try CacheInspector(directory: path)
    var problems: [CacheProblem] = []
    _ = try inspector.verify(.full) { problems.append($0) }

    #expect(problems.isEmpty)

    let cache = ThumbnailCache(diskAt: path)
    #expect(cache.checkedHits(Self.flushed) == Self.flushed.count)
    _ = cache.checkedHits(Self.written)
    #expect(cache.counters.errors.isEmpty)
  }

  /// Stores, removes and flushes forever. A timer kills the process 1 to 300 ms after the first flush.
  private static func writeUntilKilled(_ path: String, round: Int) -> Never {
    let cache = ThumbnailCache(diskAt: path)
    var generator = SeededGenerator(seed: UInt64(round))
    cache.store(flushed)
    cache.flush()
    let delay = DispatchTimeInterval.microseconds(Int.random(in: 1000...300_000, using: &generator))
    DispatchQueue.global().asyncAfter(deadline: .now() + delay) { kill(getpid(), SIGKILL) }
    while true {
      let number = Int.random(in: written, using: &generator)
      switch Int.random(in: 0..<20, using: &generator) {
      case 0: cache.flush()
      case 1...3: cache.remove(Fixtures.key(number))
      default: cache.store(number..<number + 1)
      }
    }
  }

  /// Kills two child processes on a full cache that keeps originals, while they store, evict, remove, prune, set limits
  /// and return space to the file system.
  @Test(arguments: 0..<CacheFixtures.count(of: "THUMBS_KILL_ROUNDS", otherwise: 12))
  func `A full cache stays full after the processes using it are killed`(round: Int) async throws {
    let directory = try CachePlace()
    let path = directory.path
    do {
      let cache = Self.fullCache(path)
      for number in 0..<1500 { Self.storeWithFile(number, in: cache) }
      cache.flush()
    }
    let full = try CacheInspector(directory: path).statistics(at: Fixtures.start).sources
    await withTaskGroup(of: Void.self) { group in
      for child in 0..<2 {
        group.addTask {
          await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = path as String, seed = round * 2 + child as Int] in
            Self.evictUntilKilled(path, seed: seed)
          }
        }
      }
    }
    let inspector = try CacheInspector(directory: path)

    var problems: [CacheProblem] = []
    _ = try inspector.verify(.full) { problems.append($0) }

    #expect(problems == [])
    // Pruning leaves three quarters of the limit.
    #expect(try inspector.statistics(at: Fixtures.start).sources > full / 2)

    let cache = Self.fullCache(path)
    let hits = cache.checkedHits(0..<3000, source: Self.source)
    #expect(hits > full / 2)
    #expect(cache.counters.errors.isEmpty)
  }

  private static func fullCache(_ path: String) -> ThumbnailCache {
    ThumbnailCache(
      .init(directory: path, diskByteLimit: 2 << 20, originals: .share(percent: 20), memoryByteLimit: 0),
      logger: .silent, now: { Fixtures.start })
  }

  private static func storeWithFile(_ number: Int, in cache: ThumbnailCache) {
    cache.store(
      source(number), thumbnails: [Fixtures.thumbnail(number)], original: number % 7 == 0 ? original(number) : [],
      for: Fixtures.key(number))
  }

  private static func original(_ number: Int) -> [UInt8] { Array(repeating: UInt8(number & 255), count: 5000) }

  private static func source(_ number: Int) -> StoredSource {
    Fixtures.source(number, original: original(number))
  }

  private static func evictUntilKilled(_ path: String, seed: Int) -> Never {
    let cache = fullCache(path)
    var generator = SeededGenerator(seed: UInt64(seed))
    for number in 1500..<1600 { storeWithFile(number, in: cache) }
    cache.flush()
    let delay = DispatchTimeInterval.microseconds(Int.random(in: 1000...300_000, using: &generator))
    DispatchQueue.global().asyncAfter(deadline: .now() + delay) { kill(getpid(), SIGKILL) }
    while true {
      let number = Int.random(in: 0..<3000, using: &generator)
      switch Int.random(in: 0..<400, using: &generator) {
      case 0: _ = try? CacheMaintenance.prune(directory: path, downTo: 3 << 19)
      case 1: try? CacheMaintenance.setLimit(Int.random(in: 3 << 19...2 << 20, using: &generator), directory: path)
      case 2: try? CacheMaintenance.remove([Fixtures.key(number)], directory: path)
      case 3..<20: cache.flush()
      default: storeWithFile(number, in: cache)
      }
    }
  }

  /// Kills child processes that clear the cache all the time, after they have filled it.
  @Test(arguments: 0..<CacheFixtures.count(of: "THUMBS_KILL_ROUNDS", otherwise: 12))
  func `A clear that is interrupted by a kill leaves the old cache or an empty one`(round: Int) async throws {
    let directory = try CachePlace()
    let path = directory.path
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, round = round as Int] in
      Self.clearUntilKilled(path, round: round)
    }
    #expect(try CacheInspector(directory: path).verify(.full) { _ in }.problems == 0)

    let cache = ThumbnailCache(diskAt: path)
    cache.store(100..<150)
    cache.flush()
    _ = cache.checkedHits(0..<100)
    #expect(cache.checkedHits(100..<150) == 50)
    #expect(cache.counters.errors.isEmpty)

    try CacheMaintenance.clear(directory: path)
    try CacheMaintenance.clear(directory: path)
    // At most the generation that the running cache reads and the current one have a database.
    #expect(directory.files.count { $0.hasSuffix("/cache.db") } <= 2)
  }

  private static func clearUntilKilled(_ path: String, round: Int) -> Never {
    let cache = ThumbnailCache(diskAt: path)
    var generator = SeededGenerator(seed: UInt64(round))
    cache.store(0..<100)
    cache.flush()
    let delay = DispatchTimeInterval.microseconds(Int.random(in: 100...100_000, using: &generator))
    DispatchQueue.global().asyncAfter(deadline: .now() + delay) { kill(getpid(), SIGKILL) }
    while true {
      try? CacheMaintenance.clear(directory: path)
      cache.store(0..<Int.random(in: 0..<100, using: &generator))
      cache.flush()
    }
  }
}
