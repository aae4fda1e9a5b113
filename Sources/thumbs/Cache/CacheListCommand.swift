import ArgumentParser
import BatchFetch
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

/// A filter for sources: `host=example.org`, `older-than=30d`, `larger-than=20k` or `state=stale`.
enum SourceFilter: Hashable, Sendable {
  /// The URL has this host.
  case host(String)
  /// The source was last used more than this many seconds ago.
  case olderThan(Int)
  /// The source takes more than this many bytes in the cache.
  case largerThan(Int)
  /// The source is in this state: fresh, stale or failed.
  case state(ListedSource.State)

  /// Parses a filter.
  init(_ text: String) throws {
    let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
    switch (parts.first, parts.count == 2 ? parts[1] : "") {
    case ("host", let host) where !host.isEmpty: self = .host(host.lowercased())
    case ("older-than", let age): self = .olderThan(try Self.seconds(age))
    case ("larger-than", let size): self = .largerThan(try ByteSize(size).count)
    case ("state", let state):
      guard let state = ListedSource.State(rawValue: state) else {
        throw ValidationError("the state must be fresh, stale or failed")
      }
      self = .state(state)
    default: throw ValidationError("give host=NAME, older-than=30d, larger-than=20k or state=stale")
    }
  }

  /// Returns true if `source` matches the filter at `now`.
  func matches(_ source: ListedSource, at now: Date) -> Bool {
    switch self {
    case .host(let host): SourceURLParts(source.source.url).host == host
    case .olderThan(let seconds): now.timeIntervalSince(source.lastUsed) > Double(seconds)
    case .largerThan(let bytes): source.bytes > bytes
    case .state(let state): source.state(at: now) == state
    }
  }

  /// Parses `90s`, `15m`, `12h`, `30d` or `8w` as a number of seconds.
  private static func seconds(_ text: String) throws -> Int {
    guard let seconds = TimeUnit.seconds(text, needsUnit: true), let whole = Int(exactly: seconds.rounded()) else {
      throw ValidationError("give an age such as 90s, 15m, 12h, 30d or 8w")
    }
    return whole
  }
}

/// A reference to one source in a cache, by its URL or a prefix of its key.
struct SourceSelector: Hashable, Sendable, ExpressibleByArgument {
  /// The minimum length of a key prefix. Six digits are nearly always unique, even among a million sources.
  private static let shortestPrefix = 6

  let text: String

  init(argument: String) { text = argument }

  /// Returns the source.
  ///
  /// - Throws: A ``Failure`` if no source matches, or more than one.
  func source(in inspector: CacheInspector) throws -> ListedSource {
    if let url = try? SourceURL(text) {
      if let source = try inspector.source(of: SourceKey(url: url.description)) { return source }
      // Header fields and credentials are a part of the key.
      let found = try inspector.sources(ofURL: url.description)
      guard found.count == 1 else { throw Failure(candidates: found.map(\.key), text: text) }
      return found[0]
    }
    guard text.utf8.count >= Self.shortestPrefix else { throw Failure(candidates: [], text: text) }
    let found = try inspector.sources(withPrefix: text)
    guard found.count == 1 else { throw Failure(candidates: found.map(\.key), text: text) }
    return found[0]
  }

  /// The error for a reference that matches no source, or more than one.
  struct Failure: Error, CustomStringConvertible {
    let candidates: [SourceKey]
    let text: String

    var description: String {
      let text = CacheText.redacted(CacheText.field(text))
      if candidates.isEmpty { return "There is no source \(text) in the cache." }
      let keys = candidates.map { "  \($0)" }.joined(separator: "\n")
      return "\(text) matches several keys:\n\(keys)"
    }
  }
}
