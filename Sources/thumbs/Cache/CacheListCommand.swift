import ArgumentParser
import BatchFetch
import Foundation
import ImageCache

/// `thumbs cache ls`: prints one line per source or host. Without `--sort` and `--by-host`, in constant memory.
struct CacheListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ls", abstract: "List the sources in the cache.",
    discussion: """
      Examples:
        thumbs cache ls --sort size
        thumbs cache ls --host cdn.example --filter older-than=30d
        thumbs cache ls --by-host
        thumbs cache ls --format jsonl --full-urls | wc -l
      """)

  /// An order of the list.
  enum Order: String, CaseIterable, ExpressibleByArgument {
    /// The largest first.
    case size
    /// The last used first.
    case used
    case host
  }

  @OptionGroup var cache: CacheOptions
  @OptionGroup var filter: FilterOptions
  @Option(help: "Sort by size (largest first), used (last used first) or host. (default: by key)") var sort: Order?
  @Flag(help: "Print a line per host: its sources, their size and their last use.") var byHost = false
  @OptionGroup var formats: CacheFormatOptions
  @Flag(name: .customLong("full-urls"), help: "Show queries, users and passwords in URLs.") var fullURLs = false

  func run() throws {
    try reportingCacheErrors {
      let inspector = try CacheInspector(directory: try cache.directory())
      let listed = byHost ? try listHosts(in: inspector) : try listSources(in: inspector)
      if formats.chosen == .table, listed.count > 0 {
        print("\(CacheText.sources(listed.count)), \(CacheText.size(listed.bytes))")
      }
      if listed.count == 0 { filter.explain(listed.selection) }
      guard listed.unusable == 0 else {
        printToStandardError("thumbs cache: Skipped \(listed.unusable.grouped) damaged sources.")
        throw ExitCode(1)
      }
    }
  }

  /// The totals of a list.
  private struct Listed {
    var (count, bytes, unusable) = (0, 0, 0)
    var selection = HostSelection()
  }

  /// Calls `body` with each source that matches the filters, in the order of their keys.
  private func forEachMatch(
    in inspector: CacheInspector, at now: Date, _ body: (ListedSource) throws -> Void
  ) throws -> Listed {
    var listed = Listed()
    var unusable = 0
    try inspector.forEachSource { source in
      guard filter.matches(source, at: now, &listed.selection) else { return }
      listed.count += 1
      listed.bytes += source.bytes
      try body(source)
    } damaged: {
      unusable += $0
    }
    listed.unusable = unusable
    return listed
  }

  /// Prints a line per source. Only sorted ones are kept in memory.
  private func listSources(in inspector: CacheInspector) throws -> Listed {
    let now = Date()
    var (isFirst, kept): (Bool, [ListedSource]) = (true, [])
    func printNext(_ source: ListedSource) throws {
      try printRow(Record(source, url: url(of: source), now: now), isFirst: isFirst)
      isFirst = false
    }
    printHead()
    let listed = try forEachMatch(in: inspector, at: now) { source in
      if sort == nil { try printNext(source) } else { kept.append(source) }
    }
    if let sort { for source in kept.sorted(by: sort) { try printNext(source) } }
    if formats.chosen == .json { print(isFirst ? "[]" : "\n]") }
    return listed
  }

  /// Prints a line per host.
  private func listHosts(in inspector: CacheInspector) throws -> Listed {
    var hosts: [String: HostRecord] = [:]
    let listed = try forEachMatch(in: inspector, at: Date()) { source in
      hosts[source.host, default: HostRecord(host: source.host)].add(source)
    }
    try printHosts(hosts.values.sorted(by: .host).sorted(by: sort ?? .size))
    return listed
  }

  private func printHosts(_ hosts: [HostRecord]) throws {
    switch formats.chosen {
    case .table:
      print("      SIZE  SOURCES  USED                  HOST")
      for host in hosts {
        let (size, sources) = (CacheText.size(host.bytes).leftPadded(to: 10), host.sources.grouped.leftPadded(to: 7))
        print("\(size)  \(sources)  \(CacheText.time(host.lastUsed))  \(CacheText.field(host.host))")
      }
    case .tsv:
      print(["host", "sources", "bytes", "lastUsed"].joined(separator: "\t"))
      for host in hosts {
        print("\(CacheText.field(host.host))\t\(host.sources)\t\(host.bytes)\t\(CacheText.time(host.lastUsed))")
      }
    case .jsonl: for host in hosts { print(try CacheText.json(host)) }
    case .json: print(try CacheText.json(hosts))
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

/// The sources of one host. Fields may be added; existing ones do not change.
private struct HostRecord: Encodable {
  let host: String
  var (sources, bytes) = (0, 0)
  var lastUsed = Date.distantPast

  init(host: String) { self.host = host }

  mutating func add(_ source: ListedSource) {
    sources += 1
    bytes += source.bytes
    lastUsed = max(lastUsed, source.lastUsed)
  }
}

/// An entry of the list.
private protocol Entry {
  var bytes: Int { get }
  var lastUsed: Date { get }
  /// The host, and the place within it.
  var place: (host: String, url: String) { get }
}

extension HostRecord: Entry {
  var place: (host: String, url: String) { (host, "") }
}

extension ListedSource: Entry {
  fileprivate var place: (host: String, url: String) { (host, source.url) }
}

extension Sequence where Element: Entry {
  /// Returns the entries in `order`. Those that are alike stay in their order.
  fileprivate func sorted(by order: CacheListCommand.Order) -> [Element] {
    sorted { a, b in
      switch order {
      case .size: a.bytes > b.bytes
      case .used: a.lastUsed > b.lastUsed
      case .host: a.place < b.place
      }
    }
  }
}

extension ListedSource {
  /// The host of the source with its port, or the bucket; empty for local files.
  var host: String { (try? SourceURL(source.url))?.host ?? "" }
}

extension String {
  fileprivate func leftPadded(to length: Int) -> String {
    String(repeating: " ", count: max(0, length - count)) + self
  }
}

/// A filter for sources: `host=example.org`, `older-than=30d`, `larger-than=20k` or `state=stale`.
enum SourceFilter: Hashable, Sendable {
  /// The host of the URL matches this pattern.
  case host(HostPattern)
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
    case ("host", let host) where !host.isEmpty: self = .host(try Self.host(host))
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
    case .host(let pattern): pattern.matches(source.host)
    case .olderThan(let seconds): now.timeIntervalSince(source.lastUsed) > Double(seconds)
    case .largerThan(let bytes): source.bytes > bytes
    case .state(let state): source.state(at: now) == state
    }
  }

  /// Parses `cdn.example`, `cdn.example:8443` or `*.example`.
  static func host(_ text: String) throws -> HostPattern {
    do throws(FetchFailure) {
      return try HostPattern(text)
    } catch {
      throw ValidationError("give a host, such as cdn.example, cdn.example:8443 or '*.example'")
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
      if found.isEmpty {
        throw Failure(candidates: [], text: text, reason: try reason(why: url, isMissingIn: inspector))
      }
      guard found.count == 1 else { throw Failure(candidates: found.map(\.key), text: text) }
      return found[0]
    }
    guard text.utf8.count >= Self.shortestPrefix else { throw Failure(candidates: [], text: text) }
    let found = try inspector.sources(withPrefix: text)
    guard found.count == 1 else { throw Failure(candidates: found.map(\.key), text: text) }
    return found[0]
  }

  /// The most URLs with another query that a message lists.
  private static let listedQueries = 3

  /// Returns the sentence that says why the source of `url` is missing.
  private func reason(why url: SourceURL, isMissingIn inspector: CacheInspector) throws -> String {
    if let time = try inspector.lastUse(ofUnkept: SourceKey(url: url.description)) {
      return "It was evicted, or not kept, because the cache was full; it was last used at \(CacheText.time(time))."
    }
    func path(_ url: String) -> Substring { url.prefix { $0 != "?" } }
    var others: [String] = []
    try inspector.forEachSource { source in
      if path(source.source.url) == path(url.description) { others.append(Self.withoutValues(source.source.url)) }
    }
    guard let first = others.first else {
      return
        "No run has stored it: it was never fetched with this cache, its response forbade that (no-store), or it was "
        + "removed."
    }
    guard others.count > 1 else { return "With another query, there is \(first)" }
    let list = others.prefix(Self.listedQueries).joined(separator: ", ")
    return "With other queries, there are \(others.count.grouped) sources, such as \(list)"
  }

  /// Returns the URL with the names of the parameters in its query. Their values may be secret.
  private static func withoutValues(_ url: String) -> String {
    let parts = Redaction.url(url).split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return CacheText.field(String(parts[0])) }
    let names = parts[1].split(separator: "&").map { $0.contains("=") ? $0.prefix { $0 != "=" } + "=…" : "…" }
    return CacheText.field("\(parts[0])?\(names.joined(separator: "&"))")
  }

  /// The error for a reference that matches no source, or more than one.
  struct Failure: Error, CustomStringConvertible {
    let candidates: [SourceKey]
    let text: String
    var reason: String?

    var description: String {
      let text = CacheText.redacted(CacheText.field(text))
      if candidates.isEmpty { return "There is no source \(text) in the cache.\(reason.map { " \($0)" } ?? "")" }
      let keys = candidates.map { "  \($0)" }.joined(separator: "\n")
      return "\(text) matches several keys:\n\(keys)"
    }
  }
}
