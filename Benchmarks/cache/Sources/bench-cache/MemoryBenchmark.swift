import Dispatch
import Foundation
import ImageCache
import Logging

/// Compares the memory tier with `NSCache`, using the same keys and values of the same cost.
enum MemoryBenchmark {
  private static let count = 10_000
  private static let lookups = 2_000_000
  private static let threads = 2

  static func run() {
    print("Memory: \(count) entries, \(lookups) random lookups")
    let entries = (0..<count).map(Entry.init)
    // The sizes differ because NSCache keeps its values sorted by cost.
    let bodies = (0..<count).map { [UInt8](repeating: 1, count: 1000 + ($0 * 7919) % 20_000) }
    let keys = entries.map { BoxedKey($0.key) }
    let (ours, theirs) = (emptyCache(), NSCache<BoxedKey, Box>())
    theirs.totalCostLimit = 1 << 30

    let insertions = time(count) { for number in 0..<count { entries[number].store(bodies[number], in: ours) } }
    let theirInsertions = time(count) {
      for number in 0..<count {
        theirs.setObject(Box(bodies[number]), forKey: keys[number], cost: bodies[number].count)
      }
    }
    report("NSCache, insertion", theirInsertions, "ns")
    report("ours, insertion", insertions, "ns", goal(theirInsertions / insertions, atLeast: 3))

    let order = order()
    let theirHits = time(lookups) { for number in order { precondition(theirs.object(forKey: keys[number]) != nil) } }
    let hits = time(lookups) { for number in order { look(entries[number], in: ours) } }
    report("NSCache, hit", theirHits, "ns")
    report("ours, hit", hits, "ns", goal(theirHits / hits, atLeast: 6))
    let together = time(lookups * threads) {
      DispatchQueue.concurrentPerform(iterations: threads) { _ in
        for number in order { look(entries[number], in: ours) }
      }
    }
    report("ours, hit, \(threads) threads", together, "ns", goal(hits / together, atLeast: 1.7))
  }

  private static func look(_ entry: Entry, in cache: ThumbnailCache) {
    precondition(cache.memoryEntry(for: entry.key, url: entry.url, specs: Entry.specs) != nil)
  }

  private static func emptyCache() -> ThumbnailCache {
    ThumbnailCache(.init(memoryByteLimit: 1 << 30), logger: Logger(label: "bench"))
  }

  private static func order() -> [Int] {
    var generator = SplitMix(state: 5)
    return (0..<lookups).map { _ in Int.random(in: 0..<count, using: &generator) }
  }

  /// Returns the nanoseconds per step of a body with `count` steps.
  private static func time(_ count: Int, _ body: () -> Void) -> Double { seconds(body) * 1e9 / Double(count) }

  private final class Box {
    let bytes: [UInt8]
    init(_ bytes: [UInt8]) { self.bytes = bytes }
  }

  private final class BoxedKey: NSObject {
    let key: SourceKey
    init(_ key: SourceKey) { self.key = key }
    override var hash: Int { key.hashValue }
    override func isEqual(_ other: Any?) -> Bool { (other as? BoxedKey)?.key == key }
  }
}
