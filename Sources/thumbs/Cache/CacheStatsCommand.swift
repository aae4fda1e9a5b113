import ArgumentParser
import Foundation
import ImageCache

/// `thumbs cache stats`: shows counts and sizes.
struct CacheStatsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats", abstract: "Show counts and sizes of the cache.",
    discussion: """
      Examples:
        thumbs cache stats
        thumbs cache stats --format json
      """)

  @OptionGroup var cache: CacheOptions
  @Option(help: "Output format.") var format = CacheOutputFormat.table

  func run() throws {
    try reportingCacheErrors {
      let statistics = try CacheInspector(directory: try cache.directory()).statistics(at: Date())
      switch format {
      case .table: print(Self.table(statistics))
      case .json, .jsonl: print(try CacheText.json(Record(statistics)))
      case .tsv: print(Self.separated(statistics))
      }
    }
  }

  /// The JSON object of ``CacheStatistics``, with sizes in bytes. Fields may be added; existing ones do not change.
  private struct Record: Encodable {
    let schema = 1
    let directory: String
    let generation, sources, freshSources, staleSources, failures, thumbnails, thumbnailBytes: Int
    let storedLimit: Int?
    let originalBytes: Int
    let usedBytes, databaseBytes, logBytes: Int
    let oldestUse: Date?

    init(_ statistics: CacheStatistics) {
      directory = statistics.directory
      (generation, sources) = (statistics.generation, statistics.sources)
      (freshSources, staleSources) = (statistics.freshSources, statistics.staleSources)
      failures = statistics.failures
      (thumbnails, thumbnailBytes) = (statistics.thumbnails, statistics.thumbnailBytes)
      (usedBytes, databaseBytes) = (statistics.usedBytes, statistics.databaseBytes)
      logBytes = statistics.logBytes
      (storedLimit, originalBytes) = (statistics.storedLimit, statistics.originalBytes)
      oldestUse = statistics.oldestUse
    }
  }

  private static func table(_ statistics: CacheStatistics) -> String {
    let average = statistics.thumbnailBytes / max(1, statistics.thumbnails)
    return """
      Cache       \(CacheText.field(statistics.directory))  (generation \(statistics.generation))
      Size        \(CacheText.size(statistics.usedBytes))   on disk \(CacheText.size(statistics.databaseBytes)) \
      + log \(CacheText.size(statistics.logBytes))
      Limit       \(statistics.storedLimit.map(CacheText.size) ?? "none stored in the cache")
      Sources     \(statistics.sources)   fresh \(statistics.freshSources)  stale \(statistics.staleSources)  \
      failed \(statistics.failures)
      Thumbnails  \(statistics.thumbnails)   \(CacheText.size(statistics.thumbnailBytes))   \
      average \(CacheText.size(average))
      Originals   \(CacheText.size(statistics.originalBytes))
      Oldest use  \(statistics.oldestUse.map(CacheText.time) ?? "-")
      """
  }

  private static func separated(_ statistics: CacheStatistics) -> String {
    let columns: [(String, String)] = [
      ("directory", CacheText.field(statistics.directory)), ("generation", "\(statistics.generation)"),
      ("sources", "\(statistics.sources)"), ("freshSources", "\(statistics.freshSources)"),
      ("staleSources", "\(statistics.staleSources)"), ("failures", "\(statistics.failures)"),
      ("thumbnails", "\(statistics.thumbnails)"), ("thumbnailBytes", "\(statistics.thumbnailBytes)"),
      ("usedBytes", "\(statistics.usedBytes)"), ("databaseBytes", "\(statistics.databaseBytes)"),
      ("logBytes", "\(statistics.logBytes)"), ("originalBytes", "\(statistics.originalBytes)"),
      ("storedLimit", statistics.storedLimit.map { "\($0)" } ?? ""),
      ("oldestUse", statistics.oldestUse.map(CacheText.time) ?? ""),
    ]
    return [columns.map(\.0), columns.map(\.1)].map { $0.joined(separator: "\t") }.joined(separator: "\n")
  }
}
