import ArgumentParser
import Foundation
import ImageCache

/// `thumbs cache stats`: shows counts and sizes.
struct CacheStatsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats", abstract: "Show counts and sizes of the cache.",
    discussion: """
      Also shows how many lookups of the last runs the cache could serve, and what would be left in a smaller cache.

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
