public import FoundationEssentials

/// Operations on a whole cache directory, even while other processes use it.
///
/// All of them throw ``DiskCacheError/Code/noCache`` if there is no cache, and ``DiskCacheError/Code/busy`` if another
/// process holds the lock for too long. Except for ``clear(directory:)`` they work in small steps, so that other
/// processes can write in between.
public enum CacheMaintenance {
  /// Empties the cache in `directory` at once, whatever its size: a new generation replaces the old one, which is
  /// removed as soon as no process uses it. Works even if the files of the old generation cannot be read.
  public static func clear(directory path: String) throws(DiskCacheError) {
    do throws(DiskCacheError) {
      _ = try existing(path)
    } catch {
      guard error.code == .io else { throw error }
    }
    var run = MaintenanceRun(DiskStore(CacheDirectory(path: path), byteLimit: nil), now: 0)
    defer { run.close() }
    try run.startOver()
  }

  /// Empties the cache if it cannot be read at all because of an I/O error that is not a passing one, such as a broken
  /// sector of the disk: if two verifications fail and the process can open other files.
  ///
  /// - Returns: True if the cache was emptied; false if a verification did not fail.
  public static func clearIfUnreadable(directory path: String) throws -> Bool {
    for _ in 0..<2 {
      do {
        _ = try CacheInspector(directory: path).verify(.full) { _ in }
        return false
      } catch let error as DiskCacheError where error.code == .io && FileLock.canOpenFiles {
        continue
      }
    }
    try clear(directory: path)
    return true
  }

  /// Returns the limit stored in `directory` in bytes; nil if there is none.
  public static func limit(directory path: String) throws(DiskCacheError) -> Int? {
    try existing(path).storedLimit()
  }

  /// Stores a limit in the cache directory for all processes that use it. Running processes apply it from their next
  /// batch on. A process configured with a lower limit keeps that one.
  ///
  /// - Parameters:
  ///   - limit: The limit in bytes, at least 1; nil removes the stored limit.
  ///   - path: The cache directory.
  public static func setLimit(_ limit: Int?, directory path: String) throws(DiskCacheError) {
    let directory = try existing(path)
    // Two processes that set a limit at the same time would write the same temporary file.
    try FileLock(creating: directory.lockPath).withLock { () throws(DiskCacheError) in
      try directory.setStoredLimit(limit)
    }
  }

  /// Removes the least recently used sources until the cache holds at most `limit` bytes, and returns the space to the
  /// file system.
  ///
  /// - Parameters:
  ///   - path: The cache directory.
  ///   - limit: The target in bytes; nil for the limit of the cache itself.
  ///   - now: The current time. Sources with a later last use, from a clock that ran ahead, are removed first.
  /// - Returns: The number of sources removed.
  @discardableResult
  public static func prune(
    directory path: String, downTo limit: Int? = nil, at now: Date = Date()
  ) throws(DiskCacheError) -> Int {
    try change(path, now: now) { run throws(DiskCacheError) in try run.prune(downTo: limit) }
  }

  /// Removes sources with all their thumbnails, and returns the space to the file system.
  ///
  /// - Parameters:
  ///   - keys: The keys of the sources, consumed in batches. Unknown keys are ignored.
  ///   - path: The cache directory.
  public static func remove(_ keys: some Sequence<SourceKey>, directory path: String) throws(DiskCacheError) {
    try change(path) { run throws(DiskCacheError) in try run.remove(keys) }
  }

  /// Removes the damaged sources that a verification found, or empties the cache if a problem does not name a source.
  /// A wrong index for statistics and eviction is corrected. Verify again to learn whether that was enough.
  public static func repair(_ problems: [CacheProblem], directory path: String) throws(DiskCacheError) {
    let others = problems.filter { $0.code != .wrongTotal }
    let keys = others.compactMap(\.key)
    guard keys.count == others.count else { return try clear(directory: path) }
    try remove(keys, directory: path)
    guard others.count < problems.count else { return }
    try change(path) { run throws(DiskCacheError) in try run.repair() }
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
