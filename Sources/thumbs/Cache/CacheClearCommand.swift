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

  func run() throws {
    try reportingCacheErrors {
      let directory = try cache.directory()
      if dryRun {
        let statistics = try CacheInspector(directory: directory).statistics(at: Date())
        print("Would remove \(CacheText.sources(statistics.sources)), \(CacheText.size(statistics.usedBytes)).")
      } else {
        try CacheMaintenance.clear(directory: directory)
      }
    }
  }
}
