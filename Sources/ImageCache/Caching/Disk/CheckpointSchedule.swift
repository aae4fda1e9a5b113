/// When the write-ahead log is emptied into the database: a plain value.
struct CheckpointSchedule {
  /// Bytes that the log grows by before a checkpoint that a reader held back is tried again.
  static let growth = 16 << 20

  /// The size of the log from which on the next checkpoint is worth a try.
  private var nextSize = 0

  /// Whether a log of `logBytes` is to be emptied, in a cache that may hold `limit` bytes.
  func isDue(logBytes: Int, limit: Int) -> Bool {
    logBytes > min(16 << 20, max(1 << 20, limit / 16)) && logBytes >= nextSize
  }

  /// Takes note of a checkpoint, after which the log has `logBytes`.
  mutating func note(isEmptied: Bool, logBytes: Int) {
    // A stopped process may hold the log for ever: each try costs everyone who waits for the lock.
    nextSize = isEmptied ? 0 : logBytes + Self.growth
  }
}
