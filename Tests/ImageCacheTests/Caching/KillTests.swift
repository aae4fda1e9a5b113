import Dispatch
import Foundation
import Testing

@testable import ImageCache

@Suite("kill -9: what was flushed is there, the rest is right or missing")
struct KillTests {
  private typealias Fixtures = CacheFixtures
  private static let flushed = 50
  private static let written = 400

  /// Children that die at different moments of their work, 200 of them where `THUMBS_KILL_ROUNDS` says so.
  @Test(arguments: 0..<CacheFixtures.count(of: "THUMBS_KILL_ROUNDS", otherwise: 12))
  func killed(round: Int) async throws {
    let directory = TemporaryDirectory()
    let path = directory.path
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, round = round as Int] in
      Self.writeUntilKilled(path, round: round)
    }
    let inspector = try CacheInspector(directory: path)
    var problems: [CacheProblem] = []
    _ = try inspector.verify(.full) { problems.append($0) }
    #expect(problems.isEmpty)
    let cache = ThumbnailCache(diskAt: path)
    for number in 0..<Self.flushed + Self.written {
      let entry = cache.entry(for: Fixtures.key(number), url: Fixtures.url(number), specs: [Fixtures.spec])
      #expect(entry != nil || number >= Self.flushed)
      if let entry { #expect(entry.thumbnails == [Fixtures.spec: Fixtures.thumbnail(number)]) }
    }
    #expect(cache.counters.errors.isEmpty)
  }

  /// Stores, removes and flushes for ever; a timer ends it between 1 and 300 milliseconds after the first flush.
  private static func writeUntilKilled(_ path: String, round: Int) -> Never {
    let cache = ThumbnailCache(diskAt: path)
    var generator = SplitMix(state: UInt64(round))
    for number in 0..<flushed { store(number, in: cache) }
    cache.flush()
    let delay = DispatchTimeInterval.microseconds(Int.random(in: 1000...300_000, using: &generator))
    DispatchQueue.global().asyncAfter(deadline: .now() + delay) { kill(getpid(), SIGKILL) }
    while true {
      let number = Int.random(in: flushed..<flushed + written, using: &generator)
      switch Int.random(in: 0..<20, using: &generator) {
      case 0: cache.flush()
      case 1...3: cache.remove(Fixtures.key(number))
      default: store(number, in: cache)
      }
    }
  }

  private static func store(_ number: Int, in cache: ThumbnailCache) {
    cache.store(Fixtures.source(number), thumbnails: [Fixtures.thumbnail(number)], for: Fixtures.key(number))
  }
}
