import ArgumentParser
import ImageCache

/// `thumbs cache rm`: removes single sources with all their thumbnails.
struct CacheRemoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rm", abstract: "Remove sources and all their thumbnails.",
    discussion: """
      Examples:
        thumbs cache rm https://cdn.example/a.jpg
        thumbs cache rm --dry-run 5f2b60c1
      """)

  @OptionGroup var cache: CacheOptions
  @Argument(help: "URLs of sources, or at least the first six digits of their keys.") var sources: [SourceSelector]
  @Flag(name: [.customShort("n"), .long], help: "Show what would be removed; change nothing.") var dryRun = false
  @OptionGroup var output: JSONOption

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
      if !dryRun, !found.isEmpty { try CacheMaintenance.remove(found.map(\.key), directory: directory) }
      let record = Record(dryRun: dryRun, sources: found.map(Record.Source.init))
      if output.json || !found.isEmpty { try output.print(record, or: record.text) }
      if failures > 0 { throw ExitCode(1) }
    }
  }

  /// The JSON object of the sources that were removed, or would be.
  private struct Record: Encodable {
    struct Source: Encodable {
      let key, url: String

      init(_ source: ListedSource) {
        (key, url) = (source.key.description, CacheText.field(CacheText.redacted(source.source.url)))
      }
    }

    let dryRun: Bool
    let sources: [Source]

    /// One line per source.
    var text: String {
      sources.map { "\(dryRun ? "Would remove" : "Removed") \($0.key)  \($0.url)" }.joined(separator: "\n")
    }
  }
}
