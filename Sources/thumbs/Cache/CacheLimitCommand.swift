import ArgumentParser
import ImageCache

/// `thumbs cache limit`: shows or sets what the cache may hold, for all processes that use it.
struct CacheLimitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "limit", abstract: "Show or set what the cache may hold.",
    discussion: """
      The limit is stored in the cache, and processes that run already obey it from their next write on. A fetch with a \
      lower --cache-size keeps to that.

      Examples:
        thumbs cache limit
        thumbs cache limit 500MiB
      """)

  @OptionGroup var cache: CacheOptions
  @Argument(help: "The new limit, such as 500MiB; none takes it back.", transform: { try Limit($0) }) var limit: Limit?

  /// What a limit may be.
  enum Limit: Hashable, Sendable {
    case bytes(Int)
    /// Whatever each process was told.
    case free

    init(_ text: String) throws {
      if text == "none" {
        self = .free
        return
      }
      let size = try ByteSize(text).count
      guard size > 0 else { throw ValidationError("give at least one byte, or none") }
      self = .bytes(size)
    }
  }

  func run() throws {
    try reportingCacheErrors {
      let directory = try cache.directory()
      switch limit {
      case .bytes(let bytes): try CacheMaintenance.setLimit(bytes, directory: directory)
      case .free: try CacheMaintenance.setLimit(nil, directory: directory)
      case nil:
        let stored = try CacheMaintenance.limit(directory: directory)
        print(stored.map(CacheText.size) ?? "none")
      }
    }
  }
}
