import Foundation
import ImageCache

/// The output of `cache stats`. Its JSON fields are the properties: fields may be added; existing ones do not change.
struct ShownStatistics: Encodable {
  /// One of the last runs.
  struct Run: Encodable {
    let ended: Date
    let memoryHits, diskHits, misses: Int
    /// The part of all lookups that was served from memory or disk, rounded to a thousandth.
    let hitRatio: Double
    let written, evicted, dropped: Int

    init(_ run: CacheRun) {
      (ended, memoryHits, diskHits, misses) = (run.ended, run.memoryHits, run.diskHits, run.misses)
      let hitPart = Double(run.memoryHits + run.diskHits) / Double(max(1, run.lookups))
      hitRatio = (1000 * hitPart).rounded() / 1000
      (written, evicted, dropped) = (run.written, run.evicted, run.dropped)
    }
  }

  /// The contents of the same cache with a smaller limit: those used last.
  struct Smaller: Encodable {
    let limit, sources, bytes: Int
  }

  let schema = 1
  let directory: String
  let generation, sources, freshSources, staleSources, failures, thumbnails, thumbnailBytes: Int
  let storedLimit: Int?
  let originalBytes: Int
  let usedBytes, databaseBytes, logBytes: Int
  let oldestUse: Date?
  let runs: [Run]
  let smaller: [Smaller]

  init(_ inspector: CacheInspector, now: Date) throws(DiskCacheError) {
    let statistics = try inspector.statistics(at: now)
    directory = statistics.directory
    (generation, sources) = (statistics.generation, statistics.sources)
    (freshSources, staleSources) = (statistics.freshSources, statistics.staleSources)
    failures = statistics.failures
    (thumbnails, thumbnailBytes) = (statistics.thumbnails, statistics.thumbnailBytes)
    (usedBytes, databaseBytes) = (statistics.usedBytes, statistics.databaseBytes)
    logBytes = statistics.logBytes
    (storedLimit, originalBytes) = (statistics.storedLimit, statistics.originalBytes)
    oldestUse = statistics.oldestUse
    runs = inspector.runs.map(Run.init)
    smaller = try Self.smaller(than: statistics, inspector, now: now)
  }

  /// Returns what a half, a quarter and an eighth of the size would keep.
  private static func smaller(
    than statistics: CacheStatistics, _ inspector: CacheInspector, now: Date
  ) throws(DiskCacheError) -> [Smaller] {
    var result: [Smaller] = []
    for divisor in [2, 4, 8] where statistics.sources > 0 {
      let limit = statistics.usedBytes / divisor
      let evicted = try inspector.leastRecentlyUsed(above: limit, at: now)
      result.append(
        Smaller(
          limit: limit, sources: max(0, statistics.sources - evicted.sources),
          bytes: max(0, statistics.thumbnailBytes + statistics.originalBytes - evicted.bytes)))
    }
    return result
  }
}
