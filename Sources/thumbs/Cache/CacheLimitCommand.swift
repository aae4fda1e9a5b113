import ArgumentParser
import Foundation
import ImageCache

/// `thumbs cache limit`: shows or sets the size limit for all processes that use the cache.
struct CacheLimitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "limit", abstract: "Show or set the size limit of the cache.",
    discussion: """
      The limit is stored in the cache; before the first run, an empty cache is made for it. Running processes apply \
      the limit from their next write on. A run with a --cache-size applies the lower of the two.

      Examples:
        thumbs cache limit
        thumbs cache limit 500MiB
      """)

  @OptionGroup var cache: CacheOptions
  @Argument(help: "New limit, such as 500MiB, or none to remove it.", transform: { try Limit($0) }) var limit: Limit?
  @Flag(name: [.customShort("n"), .long], help: "Show the new limit; do not store it.") var dryRun = false
  @OptionGroup var output: JSONOption

  /// The value to store.
  enum Limit: Hashable, Sendable {
    /// A limit in bytes.
    case bytes(Int)
    /// No stored limit: each process uses its own.
    case unset

    init(_ text: String) throws {
      if text == "none" {
        self = .unset
        return
      }
      let size = try ByteSize(text).count
      guard size > 0 else { throw ValidationError("give at least one byte, or none") }
      self = .bytes(size)
    }

    /// The limit in bytes; nil for none.
    var size: Int? { if case .bytes(let size) = self { size } else { nil } }

    /// The text of a dry run.
    var announcement: String {
      size.map { "Would set the limit to \(CacheText.size($0))." } ?? "Would remove the limit."
    }
  }

  func run() throws {
    try reportingCacheErrors {
      let directory = try cache.directory()
      if dryRun, let limit { return try output.print(Record(dryRun: true, limit: limit.size), or: limit.announcement) }
      switch limit {
      case .bytes(let bytes): try CacheMaintenance.setLimit(bytes, directory: directory)
      case .unset: try CacheMaintenance.setLimit(nil, directory: directory)
      case nil: break
      }
      guard limit == nil || output.json else { return try announceEviction(directory) }
      let stored = try CacheMaintenance.limit(directory: directory)
      let applied = try CacheMaintenance.appliedLimit(directory: directory)
      try output.print(Record(limit: stored, applied: applied), or: CacheText.limit(stored, applied: applied))
    }
  }

  /// Prints what the next run will remove, if the cache holds more than the new limit.
  private func announceEviction(_ directory: String) throws {
    let inspector = try CacheInspector(directory: directory)
    let statistics = try inspector.statistics(at: Date())
    guard let size = limit?.size, size < statistics.usedBytes else { return }
    let rehearsal = try CacheMaintenance.rehearsePrune(directory: directory, downTo: size)
    guard rehearsal.sources > 0 else { return }
    let about = rehearsal.isEstimate ? "about " : ""
    let victims = "\(about)\(CacheText.sources(rehearsal.sources)) of \(statistics.sources.grouped)"
    print(
      "The cache has \(CacheText.size(statistics.usedBytes)). "
        + "The next run removes \(victims), as thumbs cache prune does now.")
  }

  /// The JSON object: the stored limit in bytes, or null, and the one that runs apply; in a dry run, the limit to
  /// store, and `dryRun`.
  private struct Record: Encodable {
    var dryRun: Bool?
    let limit: Int?
    var applied: Int?

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(limit, forKey: .limit)
      try container.encodeIfPresent(dryRun, forKey: .dryRun)
      try container.encodeIfPresent(applied, forKey: .applied)
    }

    private enum CodingKeys: CodingKey { case dryRun, limit, applied }
  }
}
