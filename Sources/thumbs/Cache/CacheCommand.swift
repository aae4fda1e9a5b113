import ArgumentParser
import BatchFetch
import Foundation
import ImageCache

/// `thumbs cache`: inspects and maintains the disk cache.
struct CacheCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cache",
    abstract: "Inspect, verify and shrink the disk cache.",
    discussion: """
      Examples:
        thumbs cache stats
        thumbs cache ls --host cdn.example --sort size
        thumbs cache why https://cdn.example/a.jpg
        thumbs cache limit 500MiB

      Exit status:
        0    done
        1    problems found, or no such source
        64   invalid command line
        66   no cache in the directory
        74   reading or writing failed
        75   the cache is busy
      """,
    subcommands: [
      CacheStatsCommand.self, CacheListCommand.self, CacheShowCommand.self, CacheWhyCommand.self,
      CacheVerifyCommand.self, CachePruneCommand.self, CacheRemoveCommand.self, CacheLimitCommand.self,
      CacheClearCommand.self, CacheDirCommand.self,
    ])
}

/// The location of the cache.
struct CacheOptions: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Cache directory. (default: $THUMBS_CACHE_DIR, else $XDG_CACHE_HOME/thumbs, else ~/.cache/thumbs)",
      valueName: "dir"))
  var cacheDir: String?

  @Flag(help: "Ignore the configuration file.") var noConfig = false

  func directory() throws -> String {
    guard let directory = cacheDir ?? CacheLocation.standard() else {
      throw ValidationError("No home directory; give the cache directory with --cache-dir.")
    }
    return directory
  }
}

extension DiskCacheError {
  /// The sentence, after a space, that says what to do; empty if the message says it.
  fileprivate var remedy: String {
    if isLasting { return " Run the command as the user of the cache, or name another one with --cache-dir." }
    return code == .diskFull ? " Free some space; thumbs cache clear empties the cache without needing any." : ""
  }
}

extension DiskCacheError.Code {
  /// The exit code of a command that fails with this error.
  var exitCode: ExitCode {
    switch self {
    case .noCache: ExitCode(66)
    case .busy: ExitCode(75)
    case .corrupt: ExitCode(1)
    case .newerSchema, .networkFileSystem, .diskFull, .io: ExitCode(74)
    }
  }
}

/// Runs `body`. Prints an error of the cache to standard error and throws its exit code.
func reportingCacheErrors(_ body: () throws -> Void) throws {
  do {
    try body()
  } catch let error as DiskCacheError {
    printToStandardError("thumbs cache: \(error.message)\(error.remedy)")
    throw error.code.exitCode
  } catch let error as SourceSelector.Failure {
    printToStandardError("thumbs cache: \(error)")
    throw ExitCode(1)
  } catch let error as CacheShowCommand.MissingThumbnail {
    printToStandardError("thumbs cache: \(error)")
    throw ExitCode(1)
  }
}

/// `thumbs cache dir`: prints the path of the cache, for scripts.
private struct CacheDirCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dir", abstract: "Print the cache directory.",
    discussion: """
      Examples:
        thumbs cache dir
      """)

  @OptionGroup var cache: CacheOptions
  @OptionGroup var output: JSONOption

  func run() throws {
    let directory = try cache.directory()
    try output.print(["directory": directory], or: directory)
  }
}

/// `thumbs cache clear`: empties the cache at once.
private struct CacheClearCommand: ParsableCommand {
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
      let statistics = Result { try CacheInspector(directory: directory).statistics(at: Date()) }
      if !dryRun { try CacheMaintenance.clear(directory: directory) }
      // A cache that cannot be read can still be cleared.
      let found = dryRun ? try statistics.get() : try? statistics.get()
      let record = RemovalRecord(dryRun: dryRun, sources: found?.sources ?? 0, bytes: found?.usedBytes)
      try output.print(record, or: record.text)
    }
  }
}

/// `thumbs cache rm`: removes single sources, or those of a host, with all their thumbnails.
private struct CacheRemoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rm", abstract: "Remove sources and all their thumbnails.",
    discussion: """
      Examples:
        thumbs cache rm https://cdn.example/a.jpg
        thumbs cache rm --dry-run 5f2b60c1
        thumbs cache rm --host cdn.example:8443
      """)

  @OptionGroup var cache: CacheOptions
  @Argument(help: "URLs of sources, or at least the first six digits of their keys.") var sources: [SourceSelector] = []
  @OptionGroup var hosts: HostOptions
  @Flag(name: [.customShort("n"), .long], help: "Show what would be removed; change nothing.") var dryRun = false
  @OptionGroup var output: JSONOption

  func validate() throws {
    if sources.isEmpty, hosts.hosts.isEmpty {
      throw ValidationError("Give URLs or keys of sources, or --host. To remove all, use thumbs cache clear.")
    }
  }

  func run() throws {
    try reportingCacheErrors {
      let directory = try cache.directory()
      let inspector = try CacheInspector(directory: directory)
      var (found, failures): ([ListedSource], Int) = (try sources(in: inspector), 0)
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

  /// Returns the sources of the hosts.
  private func sources(in inspector: CacheInspector) throws -> [ListedSource] {
    guard !hosts.hosts.isEmpty else { return [] }
    var (found, selection): ([ListedSource], HostSelection) = ([], HostSelection())
    try inspector.forEachSource { if hosts.matches($0, &selection) { found.append($0) } }
    if found.isEmpty { printToStandardError("thumbs cache: No source matches.\(selection.text)") }
    return found
  }

  /// The JSON object of the sources that were removed, or would be.
  private struct Record: Encodable {
    struct Source: Encodable {
      let key, url: String
      let bytes: Int

      init(_ source: ListedSource) {
        (key, url) = (source.key.description, CacheText.field(CacheText.redacted(source.source.url)))
        bytes = source.bytes
      }
    }

    let dryRun: Bool
    let sources: [Source]

    /// The longest list of single sources.
    private static let listed = 20

    /// One line per source, if they are few, and then their number and size.
    var text: String {
      let total = RemovalRecord(dryRun: dryRun, sources: sources.count, bytes: sources.reduce(0) { $0 + $1.bytes }).text
      guard sources.count <= Self.listed else { return total }
      let verb = dryRun ? "Would remove" : "Removed"
      return (sources.map { "\(verb) \($0.key)  \($0.url)" } + [total]).joined(separator: "\n")
    }
  }
}

/// `thumbs cache prune`: shrinks the cache and returns the space to the file system.
private struct CachePruneCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prune", abstract: "Remove the least recently used sources, or all that match a filter.",
    discussion: """
      With filters or --host, removes all sources that match them. Otherwise removes the least recently used sources \
      until the cache is within --cache-size or its limit. Returns free space to the file system.

      Examples:
        thumbs cache prune
        thumbs cache prune --cache-size 100MiB
        thumbs cache prune --dry-run --filter older-than=90d
        thumbs cache prune --host cdn.example
      """)

  @OptionGroup var cache: CacheOptions
  @OptionGroup var filter: FilterOptions
  @Option(
    help: ArgumentHelp(
      "Shrink the cache to this size, such as 500MiB. (default: the cache's limit)", valueName: "size"),
    transform: { try ByteSize($0) })
  var cacheSize: ByteSize?
  /// The old name of `--cache-size`.
  @Option(help: .hidden, transform: { try ByteSize($0) }) var maxSize: ByteSize?
  @Flag(name: [.customShort("n"), .long], help: "Show what would be removed; change nothing.") var dryRun = false
  @OptionGroup var output: JSONOption

  private var target: Int? { (cacheSize ?? maxSize)?.count }

  func validate() throws {
    if target != nil, !filter.isEmpty {
      throw ValidationError("--cache-size cannot be used together with --filter and --host.")
    }
  }

  func run() throws {
    try reportingCacheErrors {
      let directory = try cache.directory()
      let victims = try victims(in: CacheInspector(directory: directory))
      var record = RemovalRecord(dryRun: dryRun, sources: victims.count, bytes: victims.bytes)
      if !dryRun, filter.isEmpty {
        record = try prune(directory)
      } else if !dryRun {
        try CacheMaintenance.remove(victims.keys, directory: directory)
      }
      try output.print(record, or: record.text)
    }
  }

  private func prune(_ directory: String) throws -> RemovalRecord {
    func usedBytes() throws -> Int { try CacheInspector(directory: directory).statistics(at: Date()).usedBytes }
    let before = try usedBytes()
    let count = try CacheMaintenance.prune(directory: directory, downTo: target)
    let freed = before - (try usedBytes())
    return RemovalRecord(dryRun: false, sources: count, bytes: freed > 0 ? freed : nil)
  }

  /// Returns the sources to remove. The keys are known only with filters, the numbers only with filters or a dry run.
  private func victims(in inspector: CacheInspector) throws -> (keys: [SourceKey], count: Int, bytes: Int) {
    guard !filter.isEmpty else {
      guard dryRun else { return ([], 0, 0) }
      let victims = try CacheMaintenance.rehearsePrune(directory: cache.directory(), downTo: target)
      return ([], victims.sources, victims.bytes)
    }
    let now = Date()
    var (keys, bytes, selection): ([SourceKey], Int, HostSelection) = ([], 0, HostSelection())
    try inspector.forEachSource { source in
      guard filter.matches(source, at: now, &selection) else { return }
      keys.append(source.key)
      bytes += source.bytes
    }
    if keys.isEmpty { filter.explain(selection) }
    return (keys, keys.count, bytes)
  }
}

/// The filters of a command. A source must match all of them, and one of the hosts.
struct FilterOptions: ParsableArguments {
  @Option(
    name: .customLong("filter"),
    help: ArgumentHelp(
      "Select sources by host=NAME, older-than=30d (since last use), larger-than=20k or state=fresh|stale|failed.",
      discussion: "Repeat to select sources that match all filters.", valueName: "condition"),
    transform: { try SourceFilter($0) })
  var filters: [SourceFilter] = []

  @OptionGroup var hosts: HostOptions

  /// True if nothing selects sources.
  var isEmpty: Bool { filters.isEmpty && hosts.hosts.isEmpty }

  /// Returns true if `source` matches at `now`. Notes its host in `selection`.
  func matches(_ source: ListedSource, at now: Date, _ selection: inout HostSelection) -> Bool {
    hosts.matches(source, &selection) && filters.allSatisfy { $0.matches(source, at: now) }
  }

  /// Says on standard error that nothing was selected, if there are filters.
  func explain(_ selection: HostSelection) {
    if !isEmpty { printToStandardError("thumbs cache: No source matches.\(selection.text)") }
  }
}

/// The option that selects sources by their hosts.
struct HostOptions: ParsableArguments {
  @Option(
    name: .customLong("host"),
    help: ArgumentHelp(
      "Select sources of this host, such as cdn.example, cdn.example:8443 or '*.example'. Repeatable.",
      valueName: "pattern"),
    transform: { try SourceFilter.host($0) })
  var hosts: [HostPattern] = []

  /// Returns true if the host of `source` matches, or if every host does. Notes the host in `selection`.
  func matches(_ source: ListedSource, _ selection: inout HostSelection) -> Bool {
    let host = source.host
    selection.note(host)
    return hosts.isEmpty || hosts.contains { $0.matches(host) }
  }
}

/// A few of the hosts in a cache, for the message that none of them matches. Bounded.
struct HostSelection {
  private static let limit = 5

  private var hosts: Set<String> = []
  private var hasMore = false

  mutating func note(_ host: String) {
    guard !host.isEmpty, !hosts.contains(host) else { return }
    if hosts.count < Self.limit { hosts.insert(host) } else { hasMore = true }
  }

  /// The end of the message: ` The cache has sources of a.example and b.example.`
  var text: String {
    guard !hosts.isEmpty else { return " The cache has no sources of any host." }
    let names = hosts.sorted().joined(separator: ", ")
    return " The cache has sources of \(names)\(hasMore ? " and others" : "")."
  }
}
