import Foundation

/// Changes a cache directory in small steps. Each step holds the directory's lock and is followed by a pause.
struct MaintenanceRun {
  private var store: DiskStore
  private let now: Int
  private let pause: () -> Void

  /// - Parameters:
  ///   - now: Seconds since 1970.
  ///   - pause: Called after each step, without the lock. Default: sleeps for 2 ms. Other processes poll the lock every
  ///     0.5 ms and would not find it free between two steps without a pause.
  init(_ store: DiskStore, now: Int, pause: @escaping () -> Void = { usleep(2000) }) {
    self.store = store
    self.now = now
    self.pause = pause
  }

  /// Makes a new, empty generation the current one.
  mutating func startOver() throws(DiskCacheError) { try store.startOver() }

  /// Evicts sources until the cache holds at most `limit` bytes (nil for its own limit), and returns the space to the
  /// file system.
  ///
  /// - Returns: The number of sources removed.
  mutating func prune(downTo limit: Int?) throws(DiskCacheError) -> Int {
    let limit = if let limit { limit } else { try store.limit() }
    var (sum, last) = (Eviction(), Eviction())
    repeat {
      _ = try step { transactions in
        last = try transactions.evictSome(downTo: limit)
        return true
      }
      sum += last
    } while last.rows > 0
    try giveSpaceBack()
    return sum.sources
  }

  /// Removes the sources of `keys`, and returns the space to the file system.
  mutating func remove(_ keys: some Sequence<SourceKey>) throws(DiskCacheError) {
    var pending: [SourceKey] = []
    for key in keys {
      pending.append(key)
      if pending.count == Staging.batchEntries { try removeSome(&pending) }
    }
    try removeSome(&pending)
    try giveSpaceBack()
  }

  /// Corrects the index for statistics and eviction.
  mutating func repair() throws(DiskCacheError) {
    _ = try step { transactions in
      try transactions.repair()
      return false
    }
  }

  /// Closes the database.
  mutating func close() { store.close() }

  private mutating func removeSome(_ keys: inout [SourceKey]) throws(DiskCacheError) {
    let batch = Staging.ChangeSet(changes: keys.map { ($0, Staging.Change(source: nil)) }, used: [])
    _ = try step { transactions in
      try transactions.write(batch)
      return true
    }
    keys = []
  }

  private mutating func giveSpaceBack() throws(DiskCacheError) {
    while try step({ try $0.vacuum() }) {}
  }

  /// Makes one change. Returns true if `body` reports more to do.
  private mutating func step(_ body: (inout DiskTransactions) throws -> Bool) throws(DiskCacheError) -> Bool {
    defer { pause() }
    return try store.change(now: now, body)
  }
}
