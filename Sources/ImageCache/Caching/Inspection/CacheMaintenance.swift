/// Changes a cache directory as a whole, also while others use it.
///
/// All of these throw `noCache` where there is none, and `busy` when another process holds its lock for too long. Except
/// for ``clear(directory:)`` they work in small steps, between which others get their turn.
public enum CacheMaintenance {
  /// Empties the cache in `directory` at once, however large it is: a new generation takes the place of the old one,
  /// which is removed as soon as no process uses it.
  public static func clear(directory path: String) throws(DiskCacheError) {
    try change(path) { store throws(DiskCacheError) in try store.startOver() }
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
  /// - Returns: The number of sources removed.
  @discardableResult
  public static func prune(directory path: String, downTo limit: Int? = nil) throws(DiskCacheError) -> Int {
    var count = 0
    try change(path) { store throws(DiskCacheError) in
      let limit = limit ?? store.limit
      var victims = 0
      repeat {
        _ = try store.change { transactions in
          victims = try transactions.evictSome(downTo: limit)
          return true
        }
        count += victims
      } while victims > 0
      try giveSpaceBack(&store)
    }
    return count
  }

  /// Removes some sources with all their thumbnails, and gives the space back to the file system.
  ///
  /// - Parameters:
  ///   - keys: Taken a few at a time. Those that are not there are passed over.
  ///   - path: The cache's directory.
  public static func remove(_ keys: some Sequence<SourceKey>, directory path: String) throws(DiskCacheError) {
    try change(path) { store throws(DiskCacheError) in
      var pending: [SourceKey] = []
      for key in keys {
        pending.append(key)
        if pending.count == Staging.batchEntries { try remove(&pending, &store) }
      }
      try remove(&pending, &store)
      try giveSpaceBack(&store)
    }
  }

  /// Removes what a verification found damaged: the sources it names, and the whole cache where it is not about sources
  /// alone. Wrong totals are summed up again. Whether that was enough is for another verification to say.
  public static func repair(_ problems: [CacheProblem], directory path: String) throws(DiskCacheError) {
    let others = problems.filter { $0.code != .wrongTotal }
    let keys = others.compactMap(\.key)
    guard keys.count == others.count else { return try clear(directory: path) }
    try remove(keys, directory: path)
    guard others.count < problems.count else { return }
    try change(path) { store throws(DiskCacheError) in
      _ = try store.change { transactions in
        try transactions.sumUp()
        return false
      }
    }
  }

  private static func remove(_ keys: inout [SourceKey], _ store: inout DiskStore) throws(DiskCacheError) {
    let batch = Staging.Batch(changes: keys.map { ($0, Staging.Change(source: nil)) }, used: [])
    _ = try store.change { transactions in
      try transactions.write(batch)
      return true
    }
    keys = []
  }

  private static func giveSpaceBack(_ store: inout DiskStore) throws(DiskCacheError) {
    while try store.change({ try $0.vacuum() }) {}
  }

  private static func existing(_ path: String) throws(DiskCacheError) -> CacheDirectory {
    let directory = CacheDirectory(path: path)
    guard directory.currentGeneration() != nil else {
      throw DiskCacheError(.noCache, "There is no cache in \(path).")
    }
    return directory
  }

  private static func change(
    _ path: String, _ body: (inout DiskStore) throws(DiskCacheError) -> Void
  ) throws(DiskCacheError) {
    var store = DiskStore(try existing(path), byteLimit: nil)
    defer { store.close() }
    try body(&store)
  }
}
