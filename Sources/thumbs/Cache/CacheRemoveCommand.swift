import ArgumentParser
import ImageCache

/// `thumbs cache rm`: forgets single sources with all their thumbnails.
struct CacheRemoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rm", abstract: "Remove sources with all their thumbnails.",
    discussion: """
      Examples:
        thumbs cache rm https://cdn.example/a.jpg
        thumbs cache rm --dry-run 5f2b60c1
      """)

  @OptionGroup var cache: CacheOptions
  @Argument(help: "Addresses, or at least the first six digits of keys.") var sources: [SourceSelector]
  @Flag(name: [.customShort("n"), .long], help: "Say what would go, and change nothing.") var dryRun = false

  func run() throws {
    try reportingCacheErrors {
      let directory = try cache.directory()
      let inspector = try CacheInspector(directory: directory)
      var (found, failures): ([ListedSource], Int) = ([], 0)
      for selector in sources {
        do {
          found.append(try selector.source(in: inspector))
        } catch let failure as SourceSelector.Failure {
          printToStandardError("thumbs cache: \(failure)")
          failures += 1
        }
      }
      for source in found {
        print(
          "\(dryRun ? "Would remove" : "Removed") \(source.key)  \(CacheText.field(CacheText.redacted(source.source.url)))"
        )
      }
      if !dryRun, !found.isEmpty { try CacheMaintenance.remove(found.map(\.key), directory: directory) }
      if failures > 0 { throw ExitCode(1) }
    }
  }
}
