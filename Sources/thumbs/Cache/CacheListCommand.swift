import ArgumentParser
import Foundation
import ImageCache

/// `thumbs cache ls`: prints one line per source, in constant memory.
struct CacheListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ls", abstract: "List the sources in the cache.",
    discussion: """
      Examples:
        thumbs cache ls
        thumbs cache ls --filter host=cdn.example --filter older-than=30d
        thumbs cache ls --format jsonl --full-urls | wc -l
      """)

  @OptionGroup var cache: CacheOptions
  @OptionGroup var filter: FilterOptions
  @OptionGroup var formats: CacheFormatOptions
  @Flag(name: .customLong("full-urls"), help: "Show queries, users and passwords in URLs.") var fullURLs = false

  func run() throws {
    try reportingCacheErrors {
      let inspector = try CacheInspector(directory: try cache.directory())
      let now = Date()
      var isFirst = true
      printHead()
      let unusable = try inspector.forEachSource { source in
        guard filter.matches(source, at: now) else { return }
        try printRow(Record(source, url: url(of: source), now: now), isFirst: isFirst)
        isFirst = false
      }
      if formats.chosen == .json { print(isFirst ? "[]" : "\n]") }
      guard unusable == 0 else {
        printToStandardError("thumbs cache: Skipped \(unusable) damaged sources.")
        throw ExitCode(1)
      }
    }
  }

  private func url(of source: ListedSource) -> String {
    fullURLs ? source.source.url : CacheText.redacted(source.source.url)
  }

  private func printHead() {
    switch formats.chosen {
    case .table: print("KEY         STATE         SIZE  USED                  THUMBNAILS  URL")
    case .tsv: print(["key", "state", "bytes", "lastUsed", "thumbnails", "url"].joined(separator: "\t"))
    case .json, .jsonl: break
    }
  }

  private func printRow(_ record: Record, isFirst: Bool) throws {
    let labels = CacheText.field(record.thumbnails.map(\.spec).sorted().joined(separator: ","))
    let (used, url) = (CacheText.time(record.lastUsed), CacheText.field(record.url))
    switch formats.chosen {
    case .table:
      let size = CacheText.size(record.bytes).leftPadded(to: 10)
      let state = record.state.padding(toLength: 6, withPad: " ", startingAt: 0)
      print("\(record.key.prefix(10))  \(state)  \(size)  \(used)  \(labels.isEmpty ? "-" : labels)  \(url)")
    case .tsv: print([record.key, record.state, "\(record.bytes)", used, labels, url].joined(separator: "\t"))
    case .jsonl: print(try CacheText.json(record))
    case .json: print(isFirst ? "[" : ",", try CacheText.json(record), separator: "\n", terminator: "")
    }
  }

  /// The JSON object of a source. Fields may be added; existing ones do not change.
  private struct Record: Encodable {
    struct Thumbnail: Encodable {
      let spec: String
      let width, height: Int
      let format: String
      let bytes: Int
    }

    let key, url, state: String
    let status, bytes: Int
    let lastUsed: Date
    let code: String?
    let thumbnails: [Thumbnail]

    init(_ source: ListedSource, url: String, now: Date) {
      key = source.key.description
      self.url = url
      state = source.state(at: now).rawValue
      (status, bytes, lastUsed) = (source.source.status, source.bytes, source.lastUsed)
      if case .failure(let code, _, _) = source.source.content { self.code = code } else { code = nil }
      thumbnails = source.files.map {
        Thumbnail(
          spec: $0.label, width: $0.size.width, height: $0.size.height, format: $0.format.rawValue, bytes: $0.bytes)
      }
    }
  }
}

extension String {
  fileprivate func leftPadded(to length: Int) -> String {
    String(repeating: " ", count: max(0, length - count)) + self
  }
}
