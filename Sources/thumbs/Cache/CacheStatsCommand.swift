import ArgumentParser
import Foundation
import ImageCache

/// `thumbs cache stats`: shows counts and sizes.
struct CacheStatsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats", abstract: "Show counts and sizes of the cache.",
    discussion: """
      Also shows how many lookups of the last runs the cache could serve, how many hits they lost because the limit is
      low, and what would be left in a smaller cache.

      Examples:
        thumbs cache stats
        thumbs cache stats --json
      """)

  @OptionGroup var cache: CacheOptions
  @OptionGroup var formats: CacheFormatOptions

  func run() throws {
    try reportingCacheErrors {
      let shown = try ShownStatistics(CacheInspector(directory: try cache.directory()), now: Date())
      switch formats.chosen {
      case .table: print(shown.table)
      case .json, .jsonl: print(try CacheText.json(shown))
      case .tsv: print(shown.separated)
      }
    }
  }
}

/// The output of `cache stats`. Its JSON fields are the properties: fields may be added; existing ones do not change.
private struct ShownStatistics: Encodable {
  /// One of the last runs.
  struct Run: Encodable {
    let ended: Date
    let memoryHits, diskHits, misses: Int
    /// The part of all lookups that was served from memory or disk, rounded to a thousandth.
    let hitRatio: Double
    let written, evicted, dropped, declined, lost: Int
    let began: Date?
    let limit: Int?

    init(_ run: CacheRun) {
      (ended, memoryHits, diskHits, misses) = (run.ended, run.memoryHits, run.diskHits, run.misses)
      let hitPart = Double(run.memoryHits + run.diskHits) / Double(max(1, run.lookups))
      hitRatio = (1000 * hitPart).rounded() / 1000
      (written, evicted, dropped) = (run.written, run.evicted, run.dropped)
      (declined, lost, began, limit) = (run.declined, run.lost, run.began, run.limit)
    }
  }

  /// The contents of the same cache with a smaller limit: those used last.
  struct Smaller: Encodable {
    let limit, sources, bytes: Int
  }

  /// The hits that the last runs lost because the cache was too small for what they used.
  struct Shortage: Encodable {
    let runs, usedBytes, hits, lost, suggestedLimit: Int
    let limit: Int?
    /// The sentence for people.
    fileprivate let text: String

    private enum CodingKeys: String, CodingKey { case runs, usedBytes, hits, lost, suggestedLimit, limit }

    init(_ shortage: CacheShortage) {
      (runs, usedBytes, limit) = (shortage.runs, shortage.bytes, shortage.limit)
      (hits, lost, suggestedLimit) = (shortage.hits, shortage.lost, shortage.suggestedLimit)
      text = "\(shortage.sentence) To keep them: \(shortage.remedy)"
    }
  }

  let schema = 1
  let directory: String
  let generation, sources, freshSources, staleSources, failures, thumbnails, thumbnailBytes: Int
  let storedLimit: Int?
  let appliedLimit: Int
  let originalBytes: Int
  let usedBytes, databaseBytes, logBytes: Int
  let oldestUse: Date?
  let runs: [Run]
  let smaller: [Smaller]
  /// Nil if no hits were lost.
  let shortage: Shortage?

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
    appliedLimit = try CacheMaintenance.appliedLimit(directory: directory)
    runs = inspector.runs.map(Run.init)
    smaller = try Self.smaller(than: statistics, inspector, now: now)
    shortage = try inspector.shortage().map(Shortage.init)
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

extension ShownStatistics {
  /// The statistics as lines for people.
  var table: String {
    let average = thumbnailBytes / max(1, thumbnails)
    let lines = [
      ("Cache", "\(CacheText.field(directory))  (generation \(generation))"),
      (
        "Size",
        "\(CacheText.size(usedBytes))   on disk \(CacheText.size(databaseBytes)) + log \(CacheText.size(logBytes))"
      ),
      ("Limit", CacheText.limit(storedLimit, applied: appliedLimit)),
      ("Sources", "\(sources)   fresh \(freshSources)  stale \(staleSources)  failed \(failures)"),
      ("Thumbnails", "\(thumbnails)   \(CacheText.size(thumbnailBytes))   average \(CacheText.size(average))"),
      ("Originals", CacheText.size(originalBytes)), ("Oldest use", oldestUse.map(CacheText.time) ?? "-"),
    ]
    let table = (lines + runLines + smallerLines).map { name, text in
      name.padding(toLength: 12, withPad: " ", startingAt: 0) + text
    }
    return (table + (shortage.map { ["", $0.text] } ?? [])).joined(separator: "\n")
  }

  /// The hits by tier and the evictions of the last run, and of all runs that are remembered.
  private var runLines: [(String, String)] {
    guard let last = runs.first else { return [] }
    return [("Last run", Self.text([last]))] + (runs.count > 1 ? [("\(runs.count) runs", Self.text(runs))] : [])
  }

  private static func text(_ runs: [Run]) -> String {
    func sum(_ number: KeyPath<Run, Int>) -> Int { runs.reduce(0) { $0 + $1[keyPath: number] } }
    let (memory, disk, misses) = (sum(\.memoryHits), sum(\.diskHits), sum(\.misses))
    let hits = 100 * Double(memory + disk) / Double(max(1, memory + disk + misses))
    let lookups = "memory \(memory)  disk \(disk)  missed \(misses)"
    return "\(hits.text(places: 1)) % hits   \(lookups)   evicted \(sum(\.evicted))"
  }

  private var smallerLines: [(String, String)] {
    smaller.map {
      let kept = "\($0.sources) of \(sources) sources, \(CacheText.size($0.bytes))"
      return ("At 1/\(usedBytes / max(1, $0.limit))", "\(CacheText.size($0.limit)) would keep \(kept)")
    }
  }

  /// The statistics as tab-separated values: a line of names and a line of values.
  var separated: String {
    let columns: [(String, String)] = [
      ("directory", CacheText.field(directory)), ("generation", "\(generation)"),
      ("sources", "\(sources)"), ("freshSources", "\(freshSources)"),
      ("staleSources", "\(staleSources)"), ("failures", "\(failures)"),
      ("thumbnails", "\(thumbnails)"), ("thumbnailBytes", "\(thumbnailBytes)"),
      ("usedBytes", "\(usedBytes)"), ("databaseBytes", "\(databaseBytes)"),
      ("logBytes", "\(logBytes)"), ("originalBytes", "\(originalBytes)"),
      ("storedLimit", storedLimit.map { "\($0)" } ?? ""), ("oldestUse", oldestUse.map(CacheText.time) ?? ""),
    ]
    return [columns.map(\.0), columns.map(\.1)].map { $0.joined(separator: "\t") }.joined(separator: "\n")
  }
}

extension CacheShortage {
  /// `The last 3 runs used 1.90 GiB, and the limit is 1.00 GiB: 52 % of the hits were lost.`
  var sentence: String {
    let runs = runs == 1 ? "The last run" : "The last \(runs) runs"
    let limit = limit.map { ", and the limit is \(CacheText.size($0))" } ?? ""
    return "\(runs) used \(CacheText.size(bytes))\(limit): \((100 * lostPart).text(places: 0)) % of the hits were lost."
  }

  /// The command that raises the limit enough: `thumbs cache limit 2GiB`.
  var remedy: String {
    let gibibytes = suggestedLimit >> 30
    return "thumbs cache limit "
      + (gibibytes << 30 == suggestedLimit ? "\(gibibytes)GiB" : "\(suggestedLimit >> 20)MiB")
  }
}
