public import FoundationEssentials

/// Reads a cache directory without changing it, even while other processes use it.
public struct CacheInspector: Sendable {
  let directory: CacheDirectory
  let generation: OpenGeneration

  /// Opens the cache in `directory`.
  ///
  /// - Throws: ``DiskCacheError/Code/noCache`` if the directory contains no cache.
  public init(directory path: String) throws(DiskCacheError) {
    directory = CacheDirectory(path: path)
    generation = try OpenGeneration.current(of: directory)
  }

  /// Returns what the cache holds, from a narrow index of all rows. Sources are fresh or stale as of `now`.
  public func statistics(at now: Date) throws(DiskCacheError) -> CacheStatistics {
    let database = directory.databasePath(generation.number)
    return try generation.read { connection in
      var run = try StatementRun(Self.totals, in: connection)
      run.bind(now.wholeSeconds)
      guard var columns = try run.next() else { throw DiskCacheError(.corrupt, "The totals cannot be read.") }
      let (sources, failures, fresh) = (columns.integer() ?? 0, columns.integer() ?? 0, columns.integer() ?? 0)
      let (thumbnails, bytes, originals) = (columns.integer() ?? 0, columns.amount() ?? 0, columns.amount() ?? 0)
      return CacheStatistics(
        directory: directory.path, generation: generation.number, sources: sources, freshSources: fresh,
        staleSources: sources - failures - fresh, failures: failures, thumbnails: thumbnails, thumbnailBytes: bytes,
        originalBytes: originals,
        usedBytes: try DiskTransactions(database: connection, now: 0).usedBytes(),
        storedLimit: try directory.storedLimit(), databaseBytes: CacheDirectory.size(ofFile: database),
        logBytes: CacheDirectory.size(ofFile: database + "-wal"),
        oldestUse: try EvictionOrder.oldestUse(in: connection))
    }
  }

  /// Returns how many sources would be evicted until the cache holds at most `limit` bytes, and the size of the
  /// contents of all rows evicted until then, which may be thumbnails of sources that keep others. Both are estimates.
  /// Sources with a last use later than `now`, from a clock that ran ahead, are evicted first.
  ///
  /// - Parameters:
  ///   - limit: the limit in bytes; nil for the limit of the cache itself.
  ///   - now: the current time. Default: that of the system clock.
  public func leastRecentlyUsed(
    above limit: Int?, at now: Date = Date()
  ) throws(DiskCacheError) -> (sources: Int, bytes: Int) {
    let limit = if let limit { limit } else { try DiskStore(directory, byteLimit: nil).limit() }
    return try generation.read { connection in
      let transactions = DiskTransactions(database: connection, now: now.wholeSeconds)
      return try transactions.oldest(holding: try transactions.usedBytes() - limit)
    }
  }

  /// Calls `body` with each source, in the order of their keys. Reads one page at a time, so the
  /// memory used does not grow with the cache, and writers never wait.
  ///
  /// - Returns: The number of damaged sources, which are left out.
  /// - Throws: A ``DiskCacheError``, or the error that `body` throws.
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
    SELECT sum(\(RowNumber.isSource)), sum(\(RowNumber.isSource) AND fresh_until IS NULL), sum(fresh_until > ?),
      sum(\(RowNumber.isThumbnail)), sum(\(RowNumber.size) * (\(RowNumber.isThumbnail))),
      sum(\(RowNumber.size) * (\(RowNumber.isOriginal)))
    FROM slot WHERE id IS NOT NULL
    """
}
