public import FoundationEssentials

/// Looks into a cache directory, also while others use it. Creates and changes nothing.
public struct CacheInspector: Sendable {
  private let directory: CacheDirectory
  let generation: OpenGeneration

  /// Opens the cache in `directory`.
  ///
  /// - Throws: `noCache` when there is none.
  public init(directory path: String) throws(DiskCacheError) {
    directory = CacheDirectory(path: path)
    generation = try OpenGeneration.current(of: directory)
  }

  /// What the cache holds, from totals that every write keeps. Fresh and stale are judged at `now`.
  public func statistics(at now: Date) throws(DiskCacheError) -> CacheStatistics {
    let database = directory.databasePath(generation.number)
    return try generation.read { connection in
      var run = try StatementRun(Self.totals, in: connection)
      run.bind(now.wholeSeconds)
      guard var columns = try run.next() else { throw DiskCacheError(.corrupt, "The cache cannot be counted.") }
      let (sources, failures, fresh) = (columns.integer() ?? 0, columns.integer() ?? 0, columns.integer() ?? 0)
      let (thumbnails, bytes) = (columns.integer() ?? 0, columns.integer() ?? 0)
      return CacheStatistics(
        directory: directory.path, generation: generation.number, sources: sources, freshSources: fresh,
        staleSources: sources - failures - fresh, failures: failures, thumbnails: thumbnails, thumbnailBytes: bytes,
        originalBytes: try DiskTransactions(database: connection, now: 0).originalBytes(),
        usedBytes: try DiskTransactions(database: connection, now: 0).usedBytes(),
        storedLimit: try directory.storedLimit(), databaseBytes: CacheDirectory.size(ofFile: database),
        logBytes: CacheDirectory.size(ofFile: database + "-wal"),
        oldestUse: columns.integer().map { Date(timeIntervalSince1970: Double($0)) })
    }
  }

  /// How many sources would have to go, and the size of their thumbnails, so that the cache holds at most `limit` bytes;
  /// nil for the limit that the cache has. What was used last after `now`, by a clock that ran ahead, goes first.
  public func leastRecentlyUsed(
    above limit: Int?, at now: Date = Date()
  ) throws(DiskCacheError) -> (sources: Int, bytes: Int) {
    let limit = if let limit { limit } else { try DiskStore(directory, byteLimit: nil).limit() }
    return try generation.read { connection in
      let transactions = DiskTransactions(database: connection, now: now.wholeSeconds)
      return try transactions.oldest(holding: try transactions.usedBytes() - limit)
    }
  }

  /// Calls `body` with each source, in the order they were stored first. A page is read at a time, so a cache of any
  /// size takes little memory, and writers are never held up.
  ///
  /// - Returns: The number of sources left out because they are damaged.
  /// - Throws: A `DiskCacheError`, or what `body` throws.
  @discardableResult
  public func forEachSource(_ body: (ListedSource) throws -> Void) throws -> Int {
    var (last, unusable) = (Int.min, 0)
    while let page = try generation.read({ try SourcePage(after: last, in: $0) }) {
      last = page.last
      unusable += page.unusable.count
      for source in page.sources { try body(source) }
    }
    return unusable
  }

  private static let totals = """
    SELECT sum(sources), sum(sources * is_failure), sum(sources * (NOT is_failure AND fresh_until > ?)),
      sum(thumbnails), sum(bytes), (SELECT min(last_used) FROM source)
    FROM total
    """
}
