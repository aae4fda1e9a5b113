import ArgumentParser
import Foundation
import ImageCache

/// `thumbs cache clear`: empties the cache at once.
struct CacheClearCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clear", abstract: "Empty the cache.",
    discussion: """
      Examples:
        thumbs cache clear --dry-run
        thumbs cache clear
      """)

  @OptionGroup var cache: CacheOptions
  @Flag(name: [.customShort("n"), .long], help: "Show what would be removed; change nothing.") var dryRun = false
  @OptionGroup var output: JSONOption

  func run() throws {
    try reportingCacheErrors {
      let directory = try cache.directory()
      if !dryRun && !output.json { return try CacheMaintenance.clear(directory: directory) }
      let statistics = Result { try CacheInspector(directory: directory).statistics(at: Date()) }
      if !dryRun { try CacheMaintenance.clear(directory: directory) }
      // A cache that cannot be read can still be cleared.
      let found = dryRun ? try statistics.get() : try? statistics.get()
      let record = RemovalRecord(dryRun: dryRun, sources: found?.sources ?? 0, bytes: found?.usedBytes)
      try output.print(record, or: record.text)
    }
  }
}
