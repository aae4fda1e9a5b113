import Foundation
import ImageCache

/// A cache of many short entries. Measures the costs that must not grow with their number.
struct LargeBenchmark {
  let directory: String
  let count: Int
  private let size = 200

  func fill() {
    let cache = ThumbnailCache.onDisk(directory)
    let time = seconds {
      for number in 0..<count {
        Entry(number).store(Entry.body(number, count: size), in: cache)
        if number % 2000 == 1999 { cache.flush() }
      }
      cache.flush()
    }
    precondition(cache.counters.dropped == 0, "\(cache.counters)")
    print("Large: \(count) entries of \(size) bytes")
    report("entries written", Double(count) / time, "1/s")
  }

  func look() throws {
    let cache = ThumbnailCache.onDisk(directory)
    let opening = seconds { precondition(Entry(count / 2).isFound(in: cache)) } * 1000
    report("opened, with a first lookup", opening, "ms", goal(opening, atMost: 50))
    let times = lookups(in: cache)
    report("lookup, median", times[times.count / 2] * 1e6, "us")
    let slow = times[times.count * 99 / 100] * 1000
    report("lookup, 99th percentile", slow, "ms", goal(slow, atMost: 1))
    let statistics = try seconds { _ = try CacheInspector(directory: directory).statistics(at: Date()) } * 1000
    report("statistics", statistics, "ms", goal(statistics, atMost: 200))
    try prune()
    report("peak memory", peakMemory(), "MiB", goal(peakMemory(), atMost: 64))
  }

  /// Prunes a tenth of the cache.
  private func prune() throws {
    let used = try CacheInspector(directory: directory).statistics(at: Date()).usedBytes
    var removed = 0
    let time = try seconds { removed = try CacheMaintenance.prune(directory: directory, downTo: used / 10 * 9) }
    let seconds = time * 100_000 / Double(max(1, removed))
    report("100,000 entries pruned", seconds, "s", goal(seconds, atMost: 10))
  }

  private func lookups(in cache: ThumbnailCache) -> [Double] {
    var generator = SplitMix(state: 3)
    let times = (0..<100_000).map { _ in
      let entry = Entry(Int.random(in: 0..<count, using: &generator))
      return seconds { precondition(entry.isFound(in: cache)) }
    }
    return times.sorted()
  }

  /// Returns the peak resident memory of this process (`VmHWM` in `/proc/self/status`) in MiB.
  private func peakMemory() -> Double {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line.flatMap { $0.split { $0 == " " || $0 == "\t" }.dropFirst().first }.flatMap { Double($0) }.map {
      $0 / 1024
    }
      ?? .nan
  }
}
