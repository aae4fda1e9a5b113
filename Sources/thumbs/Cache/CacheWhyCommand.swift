import ArgumentParser
import Foundation
import ImageCache

/// `thumbs cache why`: explains what a request for a source would do, and why.
struct CacheWhyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "why", abstract: "Explain why a source is fresh or stale, and what a request would do now.",
    discussion: """
      Same as show --explain.

      Examples:
        thumbs cache why https://cdn.example/a.jpg
        thumbs cache why --json 5f2b60c1
      """)

  @OptionGroup var cache: CacheOptions
  @Argument(help: "URL of the source, or at least the first six digits of its key.") var source: SourceSelector
  @OptionGroup var formats: CacheFormatOptions
  @Flag(name: .customLong("full-urls"), help: "Show queries, users and passwords in URLs.") var fullURLs = false

  func run() throws {
    try reportingCacheErrors {
      let inspector = try CacheInspector(directory: try cache.directory())
      let found = try source.source(in: inspector)
      let shown = ShownSource(
        found, placeholder: try found.placeholder(in: inspector), explains: true, showsFullURL: fullURLs, now: Date())
      print(try shown.text(formats.chosen))
    }
  }
}
