import ArgumentParser
import Foundation
import ImageCache

/// `thumbs cache show`: shows everything about one source.
struct CacheShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show a source in the cache, or write one of its thumbnails.",
    discussion: """
      Examples:
        thumbs cache show --explain https://cdn.example/a.jpg
        thumbs cache show 5f2b60c1 --spec 256x256 --body > a.jpg
      """)

  @OptionGroup var cache: CacheOptions
  @Argument(help: "URL of the source, or at least the first six digits of its key.") var source: SourceSelector
  @Option(help: ArgumentHelp("Thumbnail to show, such as 256x256. (default: the largest)", valueName: "size"))
  var spec: String?
  @Flag(help: "Write the thumbnail's bytes to standard output, which must not be a terminal.") var body = false
  @Flag(help: "Explain why the source is fresh or stale, and what a request would do now.") var explain = false
  @OptionGroup var formats: CacheFormatOptions
  @Flag(name: .customLong("full-urls"), help: "Show queries, users and passwords in URLs.") var fullURLs = false

  func run() throws {
    try reportingCacheErrors {
      let inspector = try CacheInspector(directory: try cache.directory())
      let found = try source.source(in: inspector)
      if body { return try write(try thumbnail(of: found, in: inspector)) }
      let shown = ShownSource(
        found, placeholder: try found.placeholder(in: inspector), explains: explain, showsFullURL: fullURLs, now: Date()
      )
      print(try shown.text(formats.chosen))
      // The image is optional: one that cannot be drawn is left out.
      if formats.chosen == .table, let terminal = TerminalImage.standardOutput,
        let drawn = try? thumbnail(of: found, in: inspector)
      {
        terminal.draw(drawn)
      }
    }
  }

  private func thumbnail(of found: ListedSource, in inspector: CacheInspector) throws -> Thumbnail {
    let candidates = found.files.filter { spec == nil || $0.label == spec }.sorted { $0.bytes > $1.bytes }
    guard let spec = candidates.lazy.compactMap(\.spec).first,
      let thumbnail = try inspector.thumbnail(spec, of: found.key, url: found.source.url)
    else { throw MissingThumbnail(label: spec, available: found.files.map(\.label)) }
    return thumbnail
  }

  private func write(_ thumbnail: Thumbnail) throws {
    guard isatty(STDOUT_FILENO) == 0 else {
      throw ValidationError("--body writes image data; redirect standard output to a file or a pipe.")
    }
    let (_, code) = FileDescriptor.writeAll(thumbnail.bytes[...], to: STDOUT_FILENO)
    if code != 0 {
      printToStandardError("thumbs cache: \(String(cString: strerror(code)))")
      throw ExitCode.ioError
    }
  }

  /// The error for a source that lacks the requested thumbnail.
  struct MissingThumbnail: Error, CustomStringConvertible {
    let label: String?
    let available: [String]

    var description: String {
      let known = available.isEmpty ? "none" : available.sorted().joined(separator: ", ")
      return "The source has no usable thumbnail\(label.map { " " + $0 } ?? ""). Available: \(known)."
    }
  }
}
