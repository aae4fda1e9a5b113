import Foundation

/// Changes of a cache directory in small steps, each of which holds the directory's lock, with a pause after each one.
struct MaintenanceRun {
  private var store: DiskStore
  private let now: Int
  private let pause: () -> Void

  /// - Parameters:
  ///   - now: Seconds since 1970.
  ///   - pause: Is called after each step, without the lock. By default waits for 2 ms: those who wait for the lock look
  ///     for it every 0.5 ms, and would not find it free between two steps.
  init(_ store: DiskStore, now: Int, pause: @escaping () -> Void = { usleep(2000) }) {
    self.store = store
    self.now = now
    self.pause = pause
  }

  /// Makes a new, empty generation the current one.
  mutating func startOver() throws(DiskCacheError) { try store.startOver() }

  /// Removes the sources that go first until the cache holds at most `limit` bytes, nil for its own limit, and gives the
  /// space back to the file system.
  ///
  /// - Returns: The number of sources removed.
  mutating func prune(downTo limit: Int?) throws(DiskCacheError) -> Int {
    let limit = if let limit { limit } else { try store.limit() }
    var (count, victims) = (0, 0)
    repeat {
      _ = try step { transactions in
        victims = try transactions.evictSome(downTo: limit)
        return true
      }
      count += victims
    } while victims > 0
    try giveSpaceBack()
    return count
  }

  /// Removes the sources of `keys`, and gives the space back to the file system.
  mutating func remove(_ keys: some Sequence<SourceKey>) throws(DiskCacheError) {
    var pending: [SourceKey] = []
    for key in keys {
      pending.append(key)
      if pending.count == Staging.batchEntries { try removeSome(&pending) }
    }
    try removeSome(&pending)
    try giveSpaceBack()
  }

  /// Makes the totals those of the rows.
  mutating func sumUp() throws(DiskCacheError) {
    _ = try step { transactions in
      try transactions.sumUp()
      return false
    }
  }

  /// Closes the database.
  mutating func close() { store.close() }

  private mutating func removeSome(_ keys: inout [SourceKey]) throws(DiskCacheError) {
    let batch = Staging.Batch(changes: keys.map { ($0, Staging.Change(source: nil)) }, used: [])
    _ = try step { transactions in
      try transactions.write(batch)
      return true
    }
    keys = []
  }

  private mutating func giveSpaceBack() throws(DiskCacheError) {
    while try step({ try $0.vacuum() }) {}
  }

  /// Makes one change. Returns whether `body` says that there is more to do.
  private mutating func step(_ body: (DiskTransactions) throws -> Bool) throws(DiskCacheError) -> Bool {
    defer { pause() }
    return try store.change(now: now, body)
  }
}
