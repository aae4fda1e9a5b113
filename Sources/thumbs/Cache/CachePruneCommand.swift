import ArgumentParser
import Foundation
import ImageCache

/// `thumbs cache prune`: shrinks the cache and returns the space to the file system.
struct CachePruneCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prune", abstract: "Remove the least recently used sources, or all that match a filter.",
    discussion: """
      With filters, removes all sources that match them. Otherwise removes the least recently used sources until the \
      cache is within --cache-size or its limit. Returns free space to the file system.

      Examples:
        thumbs cache prune
        thumbs cache prune --cache-size 100MiB
        thumbs cache prune --dry-run --filter older-than=90d
      """)

  @OptionGroup var cache: CacheOptions
  @OptionGroup var filter: FilterOptions
  @Option(
    help: ArgumentHelp(
      "Shrink the cache to this size, such as 500MiB. (default: the cache's limit)", valueName: "size"),
    transform: { try ByteSize(ofCache: $0) })
  var cacheSize: ByteSize?
  /// The old name of `--cache-size`.
  @Option(help: .hidden, transform: { try ByteSize(ofCache: $0) }) var maxSize: ByteSize?
  @Flag(name: [.customShort("n"), .long], help: "Show what would be removed; change nothing.") var dryRun = false
  @OptionGroup var output: JSONOption

  private var target: Int? { (cacheSize ?? maxSize)?.count }

  func validate() throws {
    if target != nil, !filter.filters.isEmpty {
      throw ValidationError("--cache-size and --filter cannot be used together.")
    }
  }

  func run() throws {
    try reportingCacheErrors {
      let directory = try cache.directory()
      let victims = try victims(in: CacheInspector(directory: directory))
      var record = RemovalRecord(dryRun: dryRun, sources: victims.count, bytes: victims.bytes)
      if !dryRun, filter.filters.isEmpty {
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
    guard !filter.filters.isEmpty else {
      guard dryRun else { return ([], 0, 0) }
      let victims = try inspector.leastRecentlyUsed(above: target)
      return ([], victims.sources, victims.bytes)
    }
    let now = Date()
    var (keys, bytes): ([SourceKey], Int) = ([], 0)
    try inspector.forEachSource { source in
      guard filter.matches(source, at: now) else { return }
      keys.append(source.key)
      bytes += source.bytes
    }
    return (keys, keys.count, bytes)
  }
}
