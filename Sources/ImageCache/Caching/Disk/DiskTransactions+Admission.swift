import GRDB

// Decides which sources a full cache keeps, and records the uses that the decision needs.
extension DiskTransactions {
  /// The part of the limit that only changes of kept sources use, so that they do not evict at once.
  static let reservePart = 64
  /// A new body also takes up to half of its size in pages that are not full.
  private static let pageShare = 2

  /// Sets the room for new sources in a cache that holds at most `limit` bytes.
  mutating func measureRoom(limit: Int) throws {
    let room = max(0, limit - limit / Self.reservePart - (try usedBytes()))
    self.room = room
    filling = room > limit / 4 * 3 ? .low : room > limit / 2 ? .medium : .high
  }

  /// Begins an epoch if one is due. Experience is gathered while the cache is at least half full, so that there is some
  /// when it is full. With ample room, such as after the limit was raised, it is not worth its writes.
  mutating func beginEpochIfDue(isNewRun: Bool) throws {
    switch filling {
    case .low: try reuse.end(in: database)
    case .medium: break
    case .high: try reuse.begin(in: database)
    }
    try reuse.beginEpochIfDue(isNewRun: isNewRun, at: now, in: database)
  }

  /// The time that is recorded for a use.
  mutating func useTime() throws -> Int { try reuse.policy(in: database)?.time(now) ?? now }

  /// Records a use of a row unless it is free, or was used less than an hour ago and in the current epoch.
  mutating func noteIfDue(_ use: SlotUse) throws {
    let policy = try reuse.policy(in: database)
    guard let last = try slots.dueUse(of: use.slot, at: now, start: policy?.start, in: database) else { return }
    if use.isSource { try reuse.note(last, at: now, in: database) }
    try slots.note(use.slot, at: policy?.time(now) ?? now, in: database)
  }

  /// Records the use of a source that is about to be written, and calls `write` if it is to be kept: it is kept
  /// already, takes the place of no other one, or is more likely to be used again than the least recently used row.
  ///
  /// - Parameters:
  ///   - change: A change of an image or a failure.
  ///   - row: The row of the source.
  ///   - slot: Its slot; nil if the cache does not keep it.
  ///   - write: Writes the change. The flag is true for the first use of the source that the cache knows of.
  mutating func admit(
    _ change: Staging.Change, in row: Int, slot: Int?, _ write: (inout Self, _ isFirst: Bool) throws -> Void
  ) throws {
    if let slot {
      if let last = try slots.use(of: slot, in: database) { try reuse.note(last, at: now, in: database) }
      return try write(&self, false)
    }
    let fits = takeRoom(change.bodyBytes)
    // One batch may fill a small cache.
    if !fits { try reuse.begin(in: database) }
    guard let policy = try reuse.policy(in: database) else { return try write(&self, false) }
    let last = try reuse.ghost(of: row, in: database)
    if let last, policy.age(of: last.time, at: now) > 0 { lost += 1 }
    try reuse.note(last, at: now, in: database)
    if fits || change.source?.isImage == false {
      try write(&self, last == nil)
    } else if replaces, let victim = try victim(), policy.admits(last, inPlaceOf: Int(victim.rank), at: now) {
      try evictFirst(change.bodyBytes)
      try write(&self, last == nil)
    } else if try !writeInGap({ try write(&$0, last == nil) }) {
      declined += 1
      let use = ReusePolicy.Use(time: policy.time(now), isFirst: last == nil)
      return try reuse.remember(row, use, at: now, in: database)
    }
    if last != nil { try reuse.removeGhost(of: row, in: database) }
  }

  /// Calls `write`, and returns true if it needs no more pages than there are: evictions leave gaps in pages that are
  /// still in use. Otherwise, nothing is written.
  private mutating func writeInGap(_ write: (inout Self) throws -> Void) throws -> Bool {
    guard gaps.isWorthTrying() else { return false }
    let (before, slots, reuse) = (try usedBytes(), self.slots.checkpoint(), self.reuse)
    var isInGap = false
    try database.inSavepoint {
      try write(&self)
      isInGap = try usedBytes() <= before
      return isInGap ? .commit : .rollback
    }
    if !isInGap {
      self.slots.rollBack(to: slots)
      self.reuse = reuse
    }
    gaps.note(isFound: isInGap)
    return isInGap
  }

  /// Takes the room for a source with `bytes` bytes; returns false if it is not there.
  private mutating func takeRoom(_ bytes: Int) -> Bool {
    guard let room else { return true }
    let rest = room - bytes - bytes / Self.pageShare
    if rest >= 0 { self.room = rest }
    return rest >= 0
  }

  private mutating func victim() throws -> (slot: Int, rank: UInt32)? {
    try front.first(&slots, at: now, in: database)
  }

  /// Evicts the least recently used rows with about `bytes` bytes, whose place another source takes. Evicting until the
  /// database is smaller would take far more: a page stays until all its rows are gone.
  private mutating func evictFirst(_ bytes: Int) throws {
    var sum = 0
    gaps.rest()
    var result = Eviction()
    while sum < bytes, let victim = try victim() { sum += try evict(victim.slot, &result) }
    evicted += result
  }
}

/// Decides how often gaps in pages are looked for. A plain value.
struct GapSearch {
  /// The most sources in a row for which none is looked for.
  private static let longestPause = 256

  private var pause = 0
  private var left = 0

  /// Returns true if a gap is looked for now.
  mutating func isWorthTrying() -> Bool {
    left -= 1
    return left < 0
  }

  /// Leaves the gaps to sources that take the place of others for a while. Full pages split when these are written, and
  /// a database that grows for that reason loses many sources until it is smaller.
  mutating func rest() { (pause, left) = (Self.longestPause, Self.longestPause) }

  /// Records whether there was one. After each try in vain, the next one comes later.
  mutating func note(isFound: Bool) {
    pause = isFound ? 0 : min(Self.longestPause, 2 * pause + 1)
    left = pause
  }
}

/// The filling of a cache: below a quarter, below a half, or more.
enum Filling { case low, medium, high }

extension Staging.Change {
  /// The approximate number of bytes that the change adds to the database.
  fileprivate var bodyBytes: Int {
    let rows = 1 + thumbnails.count + (original.isEmpty ? 0 : 1)
    return thumbnails.values.reduce(original.count) { $0 + $1.bytes.count } + rows * DiskTransactions.rowBytes
  }
}

/// The rows that are evicted next. Finding them reads all times, so a few hundred are kept for many decisions.
struct EvictionFront {
  /// The most rows that are kept.
  private static let length = 256
  /// The number of rows per decision for which those that were found are used again.
  private static let rowsPerDecision = 64

  private var rows: [(slot: Int, rank: UInt32)] = []
  private var next = 0
  private var decisions = 0

  /// Returns the slot that is evicted next, and its rank; nil for an empty cache.
  fileprivate mutating func first(
    _ slots: inout SlotTable, at now: Int, in database: Database
  ) throws -> (slot: Int, rank: UInt32)? {
    if decisions <= 0 || next == rows.count { try find(&slots, at: now, in: database) }
    decisions -= 1
    while next < rows.count {
      let row = rows[next]
      // It may have been used or removed since.
      if let time = try slots.time(of: row.slot, in: database), time != UseChunk.free,
        EvictionOrder.rank(time, now: now) == row.rank
      {
        return row
      }
      next += 1
    }
    return nil
  }

  private mutating func find(_ slots: inout SlotTable, at now: Int, in database: Database) throws {
    // The tables do not have the changes of this transaction yet.
    let order = try EvictionOrder(now: now, slots.order, in: database)
    (rows, next, decisions) = ([], 0, 1 + order.count / Self.rowsPerDecision)
    for slot in order.first(Self.length) {
      guard let time = try slots.time(of: slot, in: database), time != UseChunk.free else { continue }
      rows.append((slot, EvictionOrder.rank(time, now: now)))
    }
  }
}
