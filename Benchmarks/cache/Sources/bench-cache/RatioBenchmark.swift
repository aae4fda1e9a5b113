import Foundation
import ImageCache

/// Compares the hit ratios of the memory tier with LRU and the offline optimum on synthetic traces.
enum RatioBenchmark {
  private static let keys = 50_000
  private static let requests = 1_000_000

  static func run() {
    print("Hit ratio in percent: \(requests) requests, \(keys) keys, all of the same cost")
    print("  trace               capacity   ours    LRU   optimum")
    for (name, trace) in traces {
      for share in [0.01, 0.05, 0.2] {
        let capacity = Int(Double(keys) * share)
        let ratios = [ours(trace, capacity), lru(trace, capacity), Optimum.hits(trace, capacity)].map {
          String(format: "%6.1f", 100 * Double($0) / Double(trace.count))
        }
        print(
          "  \(name.padding(toLength: 20, withPad: " ", startingAt: 0))\(String(format: "%7d", capacity))  "
            + ratios.joined(separator: " ")
        )
      }
    }
  }

  private static var traces: [(String, [Int])] {
    let popular = zipf(exponent: 0.9)
    // Every second request belongs to repeated scans of all keys, like batches over a whole catalog.
    let scanned = popular.enumerated().map { $0.offset % 2 == 0 ? $0.element : ($0.offset / 2) % keys }
    // Every second key is new and never requested again.
    let oneHit = popular.enumerated().map { $0.offset % 2 == 0 ? $0.element : keys + $0.offset }
    return [("Zipf 0.9", popular), ("Zipf and a scan", scanned), ("Zipf and one-timers", oneHit)]
  }

  /// Draws keys by Zipf's law, by bisection in the cumulative weights.
  private static func zipf(exponent: Double) -> [Int] {
    var sums: [Double] = []
    for rank in 1...keys { sums.append((sums.last ?? 0) + pow(Double(rank), -exponent)) }
    var generator = SplitMix(state: 11)
    return (0..<requests).map { _ in
      let point = Double.random(in: 0..<sums[keys - 1], using: &generator)
      var (low, high) = (0, keys - 1)
      while low < high {
        let middle = (low + high) / 2
        if sums[middle] <= point { low = middle + 1 } else { high = middle }
      }
      return low
    }
  }

  private static func ours(_ trace: [Int], _ capacity: Int) -> Int {
    let cache = MemoryCache<Key, Int>(costLimit: capacity)
    return trace.count { number in
      let key = Key(number: number)
      if cache.value(for: key) != nil { return true }
      cache.insert(number, for: key, cost: 1)
      return false
    }
  }

  private struct Key: ScatteredKey {
    let number: Int
    var scatteredBits: UInt64 { UInt64(number) &* 0x9e37_79b9_7f4a_7c15 }
  }

  /// Returns the hits of an LRU cache. The trace itself serves as the queue; outdated uses in it are skipped.
  private static func lru(_ trace: [Int], _ capacity: Int) -> Int {
    var lastUse: [Int: Int] = [:]
    var (oldest, hits) = (0, 0)
    for (time, key) in trace.enumerated() {
      if lastUse.updateValue(time, forKey: key) != nil {
        hits += 1
        continue
      }
      while lastUse.count > capacity {
        if lastUse[trace[oldest]] == oldest { lastUse[trace[oldest]] = nil }
        oldest += 1
      }
    }
    return hits
  }
}
