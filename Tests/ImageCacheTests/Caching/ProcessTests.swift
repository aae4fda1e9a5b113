import Foundation
import TestSupport
import Testing

@testable import ImageCache

@Suite("Several processes that share a directory")
struct ProcessTests {
  private typealias Fixtures = CacheFixtures
  private static let processes = 4
  private static let keys = 0..<500
  /// The minimum number of steps per process. On a slow machine the time alone allows too few for a verdict.
  private static let steps = 1000

  /// Runs for 2 seconds, or for as many as `THUMBS_PROCESS_SECONDS` sets.
  @Test func `Concurrent processes get correct entries and no errors, and the database stays intact`() async throws {
    let directory = try CachePlace()
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
    var generator = SeededGenerator(seed: UInt64(seed))
    var (step, lookups, hits) = (0, 0, 0)
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
        lookups += 1
        if let thumbnail = entry?.thumbnails[Fixtures.spec] {
          hits += 1
          #expect(thumbnail == Fixtures.thumbnail(number))
        }
      }
    }
    cache.flush()
    #expect(cache.counters.errors.isEmpty)
    #expect(cache.counters.unusable == 0)
    // A quarter of the steps store, and clearing is rare. A cache that keeps losing its entries would have hardly any
    // hits.
    #expect(lookups > 100 && hits > lookups / 8, "\(hits) hits of \(lookups)")
  }
}
