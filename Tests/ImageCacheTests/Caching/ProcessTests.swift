import Foundation
import Testing

@testable import ImageCache

@Suite("Several processes on one directory")
struct ProcessTests {
  private typealias Fixtures = CacheFixtures
  private static let processes = 4
  private static let keys = 0..<500
  /// The fewest steps of a process. A slow machine gets through a handful in the time of the test: too few to judge.
  private static let steps = 1000

  /// Runs for 2 seconds, or for as many as `THUMBS_PROCESS_SECONDS` says.
  @Test("Reads, writes, prune, clear and limits at once: every answer is right, no error, the database is whole")
  func mixedWork() async throws {
    let directory = TemporaryDirectory()
    let path = directory.path
    let seconds = CacheFixtures.count(of: "THUMBS_PROCESS_SECONDS", otherwise: 2)
    Self.fill(path)
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<Self.processes {
        group.addTask {
          await #expect(processExitsWith: .success) {
            [path = path as String, number = number as Int, seconds = seconds as Int] in
            try Self.work(path, seed: number, seconds: seconds)
          }
        }
      }
    }
    var problems: [CacheProblem] = []
    _ = try CacheInspector(directory: path).verify(.full) { problems.append($0) }
    #expect(problems.isEmpty)
  }

  private static func fill(_ path: String) {
    let cache = ThumbnailCache(diskAt: path, limit: 4 << 20)
    for number in keys {
      cache.store(Fixtures.source(number), thumbnails: [Fixtures.thumbnail(number)], for: Fixtures.key(number))
    }
    cache.flush()
  }

  private static func work(_ path: String, seed: Int, seconds: Int) throws {
    let cache = ThumbnailCache(diskAt: path, limit: 4 << 20)
    let end = ContinuousClock.now + .seconds(seconds)
    var generator = SplitMix(state: UInt64(seed))
    var (step, lookUps, hits) = (0, 0, 0)
    while step < steps || ContinuousClock.now < end {
      step += 1
      let number = Int.random(in: keys, using: &generator)
      switch Int.random(in: 0..<1000, using: &generator) {
      case 0: try CacheMaintenance.clear(directory: path)
      case 1..<4: try CacheMaintenance.prune(directory: path, downTo: 1 << 20)
      case 4..<8: try CacheMaintenance.setLimit(Int.random(in: 1...4, using: &generator) << 20, directory: path)
      case 8..<12: try CacheMaintenance.remove([Fixtures.key(number)], directory: path)
      case 12..<30: cache.flush()
      case 30..<300:
        cache.store(Fixtures.source(number), thumbnails: [Fixtures.thumbnail(number)], for: Fixtures.key(number))
      default:
        let entry = cache.entry(for: Fixtures.key(number), url: Fixtures.url(number), specs: [Fixtures.spec])
        lookUps += 1
        if let thumbnail = entry?.thumbnails[Fixtures.spec] {
          hits += 1
          #expect(thumbnail == Fixtures.thumbnail(number))
        }
      }
    }
    cache.flush()
    #expect(cache.counters.errors.isEmpty)
    #expect(cache.counters.unusable == 0)
    // A quarter of the work stores; clearing is rare. A cache that keeps losing itself would find next to nothing.
    #expect(lookUps > 100 && hits > lookUps / 8, "\(hits) hits of \(lookUps)")
  }
}
