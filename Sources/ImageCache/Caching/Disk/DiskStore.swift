import Foundation
import GRDB

/// The writing side of a cache directory: takes the lock, opens or creates the current generation, and writes batches.
///
/// Not thread-safe: ``DiskWriter`` owns it.
struct DiskStore {
  fileprivate struct Generation {
    var number: Int
    var hold: FileLock
    var connection: DatabaseQueue
  }

  /// The result of a batch.
  struct WriteSummary {
    /// The number of changes left out because the file system is short of space, or a reader holds back a large log.
    var refused = 0
    /// The number of thumbnails left out because they are too large for the limit.
    var oversized = 0
    /// The rows removed to stay within the limit.
    var eviction = Eviction()
    /// The number of sources that were missing only because they did not fit earlier.
    var lost = 0
    /// The number of sources that a full cache did not take.
    var declined = 0
    /// True if the batch opened a database that readers do not know yet.
    var hasOpened = false
  }

  private let directory: CacheDirectory
  /// The limit configured in this process; nil for none.
  private let byteLimit: Int?
  private let originals: OriginalPolicy
  private let space: @Sendable (String) -> FileSystemSpace?
  /// The longest wait for the lock.
  private let patience: Duration
  /// Called between two steps of an eviction, without the lock.
  private let pause: @Sendable () -> Void
  private var lock: FileLock?
  private var generation: Generation?
  private var shortage = SpaceShortage()
  private var checkpoints = CheckpointSchedule()
  /// The order of the last uses in the current generation by this process.
  private var order = SlotOrder()
  private var front = EvictionFront()
  private var gaps = GapSearch()
  /// True until the first batch of the current generation by this process.
  private var isNewRun = true
  private let names = SpecNames()
  /// The newest generation that was found damaged. It must not stay the current one.
  private var damaged = 0
  /// The generation in which the last write met damage.
  private var suspected = 0
  /// The number of databases opened so far.
  private var openings = 0

  /// - Parameters:
  ///   - byteLimit: The limit configured in this process; nil for none.
  ///   - patience: The longest wait for the directory's lock.
  ///   - space: Measures the file system of a path; nil if that is not possible.
  ///   - pause: Called between two steps of an eviction, without the lock. Default: sleeps for 2 ms, so that other
  ///     processes find the lock free.
  init(
    _ directory: CacheDirectory, byteLimit: Int?, originals: OriginalPolicy = .none,
    patience: Duration = FileLock.patience,
    space: @escaping @Sendable (String) -> FileSystemSpace? = { FileSystemSpace(at: $0) },
    pause: @escaping @Sendable () -> Void = { usleep(2000) }
  ) {
    self.originals = originals
    self.patience = patience
    self.space = space
    self.pause = pause
    self.directory = directory
    self.byteLimit = byteLimit
  }

  /// Writes `batch` and enforces the limit, under the directory's lock.
  ///
  /// Evicts in small steps and releases the lock between them, so that other processes can write even while a much
  /// lower limit is enforced.
  mutating func write(_ batch: Staging.ChangeSet, now: Int) throws(DiskCacheError) -> WriteSummary {
    let before = openings
    let lock = try openLock()
    var outcome = try lock.withLock(patience: patience) { () throws(DiskCacheError) in
      try writeAgainIfDamaged(batch, now: now)
    }
    if outcome.eviction.rows > 0 { outcome.eviction += evictRest(now: now) }
    outcome.hasOpened = openings != before
    return outcome
  }

  /// Continues an eviction. The batch is written already, so a failure only ends the eviction: the next batch continues
  /// it.
  private mutating func evictRest(now: Int) -> Eviction {
    var sum = Eviction()
    for _ in 0..<Self.evictionSteps {
      pause()
      guard let limit = try? limit(), !checkpoints.isFull(logBytes: logBytes, limit: limit),
        let (victims, left) = try? evictSlack(below: limit, now: now)
      else { return sum }
      sum += victims
      if victims.rows > 0 { continue }
      // Pages that belong to no row with a slot can only be the result of damage. Each further batch would be evicted
      // again.
      if left > limit, left > Self.emptyBytes, let generation { reportDamage(in: generation.number) }
      return sum
    }
    return sum
  }

  /// Evicts some rows. Returns what was removed, and the size of the database.
  private mutating func evictSlack(below limit: Int, now: Int) throws(DiskCacheError) -> (victims: Eviction, left: Int)
  {
    var (victims, left) = (Eviction(), 0)
    _ = try change(now: now) { transactions in
      victims = try transactions.evictSlack(below: limit)
      left = try transactions.usedBytes()
      return true
    }
    return (victims, left)
  }

  /// The most steps of an eviction after a batch, because a caller may wait for it.
  private static let evictionSteps = 64
  /// More than the size of a database without sources.
  private static let emptyBytes = 1 << 20

  /// Records that generation `number` is damaged. The next write replaces it if it is still the current one.
  mutating func reportDamage(in number: Int) { damaged = max(damaged, number) }

  /// Makes a new, empty generation the current one.
  mutating func startOver() throws(DiskCacheError) {
    let lock = try openLock()
    try lock.withLock(patience: patience) { () throws(DiskCacheError) in
      generation = nil
      generation = try makeGeneration()
    }
  }

  /// Empties the log into the database, unless a reader still needs it, and closes the connection.
  mutating func close() {
    guard let lock, let connection = generation?.connection else { return }
    // Without the lock, the log is left to the next process.
    try? lock.withLock(patience: patience) { () throws(DiskCacheError) in
      _ = try? connection.writeWithoutTransaction { try DiskDatabase.checkpoint($0) }
    }
    generation = nil
  }

  private mutating func openLock() throws(DiskCacheError) -> FileLock {
    if let lock, lock.isInPlace { return lock }
    // This is the first write, or someone removed the directory.
    generation = nil
    try directory.create()
    try directory.checkFileSystem()
    let opened = try FileLock(creating: directory.lockPath)
    lock = opened
    return opened
  }

  /// Writes a batch to the current generation, or to a new one if the current one is damaged.
  ///
  /// SQLite also calls a database malformed after a single failed read of a page. Only if a new connection meets the
  /// damage again is the generation abandoned and the batch written to a new one.
  private mutating func writeAgainIfDamaged(_ batch: Staging.ChangeSet, now: Int) throws(DiskCacheError) -> WriteSummary
  {
    for _ in 0..<2 {
      do throws(DiskCacheError) {
        return try writeLocked(batch, now: now)
      } catch {
        guard error.code == .corrupt else { throw error }
        if let number = generation?.number { suspected = number }
        generation = nil
      }
    }
    reportDamage(in: suspected)
    return try writeLocked(batch, now: now)
  }

  private mutating func writeLocked(_ batch: Staging.ChangeSet, now: Int) throws(DiskCacheError) -> WriteSummary {
    let connection = try currentConnection()
    // Read again for each batch, so that a lowered limit reaches running processes.
    let limit = try limit()
    // If the space cannot be measured, a failing write will show the shortage.
    let isShort = space(directory.path)?.isShort ?? false
    return try withTransactions(on: connection, now: now) { store, transactions in
      var (outcome, batch) = (WriteSummary(), batch)
      // First, so that a cache whose eviction fails stops growing.
      outcome.eviction = try transactions.evict(downTo: limit)
      try store.shortage.update(isShort: isShort, usedBytes: transactions.usedBytes)
      outcome.oversized = batch.removeBodies(above: limit / 8, original: store.originals.byteLimit(of: limit) / 8)
      if try store.isLogFull(transactions.database, limit: limit) { outcome.refused = batch.removeAdditions() }
      try transactions.measureRoom(limit: limit)
      let ceiling = store.shortage.ceiling.map { min($0, limit) }
      outcome.refused += try transactions.write(batch, ceiling: ceiling, isNewRun: store.isNewRun)
      (outcome.lost, outcome.declined) = (transactions.lost, transactions.declined)
      outcome.eviction.sources += transactions.evicted.sources
      store.isNewRun = false
      // Originals kept by other processes are left to them.
      if store.originals != .none {
        try transactions.evictOriginals(downTo: store.originals.byteLimit(of: limit))
      }
      outcome.eviction += try transactions.evict(downTo: limit)
      if !store.checkpoints.isFull(logBytes: store.logBytes, limit: limit) { try transactions.giveSpaceBack() }
      try store.checkpointIfLarge(transactions.database, limit: limit)
      return outcome
    }
  }

  /// Runs `body` on the writing connection. The caller holds the lock.
  private mutating func withTransactions<T>(
    on connection: DatabaseQueue, now: Int, _ body: (inout Self, inout DiskTransactions) throws -> T
  ) throws(DiskCacheError) -> T {
    do {
      return try connection.writeWithoutTransaction { database in
        var transactions = DiskTransactions(
          database: database, now: now, order: order, front: front, gaps: gaps, names: names)
        // A second reference would make each change copy the whole order.
        order = SlotOrder()
        defer { (order, front, gaps) = (transactions.slots.order, transactions.front, transactions.gaps) }
        return try body(&self, &transactions)
      }
    } catch {
      throw DiskCacheError(error)
    }
  }

  /// Returns the lower of the stored limit and the one configured in this process, or the default without either.
  func limit() throws(DiskCacheError) -> Int {
    let stored = try directory.storedLimit()
    return stored.map { min($0, byteLimit ?? .max) } ?? byteLimit ?? ThumbnailCache.Configuration.standardDiskByteLimit
  }

  /// Makes one small change of the current generation under the lock, all or nothing.
  ///
  /// - Parameters:
  ///   - now: Seconds since 1970.
  ///   - body: Returns true if there is more to do.
  mutating func change(now: Int, _ body: (inout DiskTransactions) throws -> Bool) throws(DiskCacheError) -> Bool {
    let lock = try openLock()
    return try lock.withLock(patience: patience) { () throws(DiskCacheError) in
      let connection = try currentConnection()
      let limit = try limit()
      return try withTransactions(on: connection, now: now) { store, transactions in
        let hasMore = try body(&transactions)
        if hasMore {
          try store.checkpointIfLarge(transactions.database, limit: limit)
        } else {
          try store.checkpoint(transactions.database)
        }
        return hasMore
      }
    }
  }

  private mutating func currentConnection() throws(DiskCacheError) -> DatabaseQueue {
    let current = try directory.currentGeneration()
    if let generation, generation.number == current, generation.number > damaged, generation.hold.isInPlace {
      return generation.connection
    }
    generation = nil
    let opened = try openGeneration(current)
    openings += 1
    generation = opened
    (shortage, checkpoints, order) = (SpaceShortage(), CheckpointSchedule(), SlotOrder())
    (front, gaps, isNewRun) = (EvictionFront(), GapSearch(), true)
    return opened.connection
  }

  private func openGeneration(_ current: Int?) throws(DiskCacheError) -> Generation {
    guard let current, current > damaged else { return try makeGeneration() }
    do throws(DiskCacheError) {
      let opened = try DiskDatabase.confirmingDamage { () throws(DiskCacheError) in
        try Generation(number: current, in: directory, open: DiskDatabase.writer)
      }
      directory.removeGenerations(before: current)
      return opened
    } catch {
      // A database that temporarily cannot be opened (no descriptors left, for example) is not abandoned.
      let isGone = error.code == .io && access(directory.databasePath(current), F_OK) != 0 && errno == ENOENT
      guard error.code == .corrupt || isGone else { throw error }
      return try makeGeneration()
    }
  }

  private func makeGeneration() throws(DiskCacheError) -> Generation {
    let current = try directory.currentGeneration() ?? 0
    let number = try directory.createGeneration(after: max(current, damaged))
    do throws(DiskCacheError) {
      let made = try Generation(number: number, in: directory, open: DiskDatabase.create)
      try directory.setCurrent(number)
      directory.removeGenerations(before: number)
      return made
    } catch {
      // Otherwise, each attempt on a full disk would leave a directory behind.
      directory.removeGeneration(number)
      throw error
    }
  }

  /// Empties the log into the database if it has grown large.
  private mutating func checkpointIfLarge(_ database: Database, limit: Int) throws {
    if checkpoints.isDue(logBytes: logBytes, limit: limit) { try checkpoint(database) }
  }

  /// Returns true if a reader, such as a stopped process, holds back a log that must not grow further.
  private mutating func isLogFull(_ database: Database, limit: Int) throws -> Bool {
    guard checkpoints.isFull(logBytes: logBytes, limit: limit) else { return false }
    try checkpoint(database)
    return checkpoints.isFull(logBytes: logBytes, limit: limit)
  }

  private var logBytes: Int {
    generation.map { CacheDirectory.size(ofFile: directory.databasePath($0.number) + "-wal") } ?? 0
  }

  private mutating func checkpoint(_ database: Database) throws {
    let isEmptied = try DiskDatabase.checkpoint(database)
    checkpoints.note(isEmptied: isEmptied, logBytes: logBytes)
  }
}

extension DiskStore.Generation {
  fileprivate init(
    number: Int, in directory: CacheDirectory, open: (String) throws -> DatabaseQueue
  ) throws(DiskCacheError) {
    self.number = number
    hold = try FileLock(sharingDirectory: directory.generationPath(number))
    try directory.checkFiles(of: number)
    do {
      connection = try open(directory.databasePath(number))
    } catch {
      throw DiskCacheError(error)
    }
  }
}

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

/// A shortage of space on the file system of the cache, from the batch that meets it to the one that finds space again.
/// A plain value.
private struct SpaceShortage {
  /// The most bytes the database may hold during a shortage: its size when the shortage began; nil without a shortage.
  ///
  /// Set only once per shortage. A new ceiling for each batch would follow every eviction down until nothing is left.
  private(set) var ceiling: Int?

  /// Records whether a batch found the file system short of space.
  mutating func update(isShort: Bool, usedBytes: () throws -> Int) rethrows {
    guard isShort else { return ceiling = nil }
    if ceiling == nil { ceiling = try usedBytes() }
  }
}
