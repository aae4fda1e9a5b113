/// Decides when the write-ahead log is emptied into the database. A plain value.
struct CheckpointSchedule {
  /// The bytes by which the log must grow before an incomplete checkpoint is tried again.
  static let growth = 16 << 20

  /// The log size from which the next checkpoint is worth trying.
  private var nextSize = 0

  /// Returns true if a log of `logBytes` must not grow further, because a reader holds it back: above 32 MiB and an
  /// eighth of the `limit` of the cache. Then only removals are written.
  func isFull(logBytes: Int, limit: Int) -> Bool { logBytes > 2 * Self.growth + limit / 8 }

  /// Returns true if a log of `logBytes` should be emptied, in a cache limited to `limit` bytes.
  func isDue(logBytes: Int, limit: Int) -> Bool {
    logBytes > min(16 << 20, max(1 << 20, limit / 16)) && logBytes >= nextSize
  }

  /// Records a checkpoint that left `logBytes` in the log.
  ///
  /// - Parameters:
  ///   - isEmptied: True if nothing is left in the log.
  ///   - logBytes: The size of the log after the checkpoint.
  mutating func note(isEmptied: Bool, logBytes: Int) {
    // A stopped process may hold the log back forever, and each attempt delays every process that waits for the lock.
    nextSize = isEmptied ? 0 : logBytes + Self.growth
  }
}
