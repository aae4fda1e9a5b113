public import FoundationEssentials

/// Changes a cache directory as a whole, also while others use it.
///
/// All of these throw `noCache` where there is none, and `busy` when another process holds its lock for too long. Except
/// for ``clear(directory:)`` they work in small steps, between which others get their turn.
public enum CacheMaintenance {
  /// Empties the cache in `directory` at once, however large it is: a new generation takes the place of the old one,
  /// which is removed as soon as no process uses it.
  public static func clear(directory path: String) throws(DiskCacheError) {
    try change(path) { run throws(DiskCacheError) in try run.startOver() }
  }

  /// The limit stored in `directory`, in bytes; nil when there is none.
  public static func limit(directory path: String) throws(DiskCacheError) -> Int? {
    try existing(path).storedLimit()
  }

  /// Stores what the cache may hold in the cache itself, for all processes that use it: those that run already obey it
  /// from their next batch on. Whoever was told a lower limit keeps to that.
  ///
  /// - Parameters:
  ///   - limit: In bytes, at least 1; nil takes the stored limit back.
  ///   - path: The cache's directory.
  public static func setLimit(_ limit: Int?, directory path: String) throws(DiskCacheError) {
    let directory = try existing(path)
    // Another process that sets a limit writes the same temporary file.
    try FileLock(creating: directory.lockPath).withLock { () throws(DiskCacheError) in
      try directory.setStoredLimit(limit)
    }
  }

  /// Removes the sources that were not used for longest until the cache holds at most `limit` bytes, and gives the space
  /// back to the file system.
  ///
  /// - Parameters:
  ///   - path: The cache's directory.
  ///   - limit: In bytes; nil for the limit that the cache has.
  ///   - now: The time. What was used last after it, by a clock that ran ahead, goes first.
  /// - Returns: The number of sources removed.
  @discardableResult
  public static func prune(
    directory path: String, downTo limit: Int? = nil, at now: Date = Date()
  ) throws(DiskCacheError) -> Int {
    try change(path, now: now) { run throws(DiskCacheError) in try run.prune(downTo: limit) }
  }

  /// Removes some sources with all their thumbnails, and gives the space back to the file system.
  ///
  /// - Parameters:
  ///   - keys: Taken a few at a time. Those that are not there are passed over.
  ///   - path: The cache's directory.
  public static func remove(_ keys: some Sequence<SourceKey>, directory path: String) throws(DiskCacheError) {
    try change(path) { run throws(DiskCacheError) in try run.remove(keys) }
  }

  /// Removes what a verification found damaged: the sources it names, and the whole cache where it is not about sources
  /// alone. Wrong totals are summed up again. Whether that was enough is for another verification to say.
  public static func repair(_ problems: [CacheProblem], directory path: String) throws(DiskCacheError) {
    let others = problems.filter { $0.code != .wrongTotal }
    let keys = others.compactMap(\.key)
    guard keys.count == others.count else { return try clear(directory: path) }
    try remove(keys, directory: path)
    guard others.count < problems.count else { return }
    try change(path) { run throws(DiskCacheError) in try run.sumUp() }
  }

  private static func existing(_ path: String) throws(DiskCacheError) -> CacheDirectory {
    let directory = CacheDirectory(path: path)
    guard try directory.currentGeneration() != nil else {
      throw DiskCacheError(.noCache, "There is no cache in \(path).")
    }
    return directory
  }

  private static func change<T>(
    _ path: String, now: Date = Date(), _ body: (inout MaintenanceRun) throws(DiskCacheError) -> T
  ) throws(DiskCacheError) -> T {
    var run = MaintenanceRun(DiskStore(try existing(path), byteLimit: nil), now: now.wholeSeconds)
    defer { run.close() }
    return try body(&run)
  }
}
