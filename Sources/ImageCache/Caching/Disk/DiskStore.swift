import Foundation
import GRDB

/// The writing side of a cache directory: takes the lock, finds or makes the current generation, writes batches.
///
/// Not for two threads at once: ``DiskWriter`` owns it.
struct DiskStore {
  fileprivate struct Generation {
    var number: Int
    var hold: FileLock
    var connection: DatabaseQueue
  }

  /// What a batch did.
  struct Outcome {
    /// Changes of the batch that were left out, because the file system is short of space.
    var refused = 0
    /// Sources removed to keep the limit.
    var evicted = 0
    /// Whether a database was opened for it, which readers do not know of yet.
    var hasOpened = false
  }

  private let directory: CacheDirectory
  /// What this process was told; nil for nothing.
  private let byteLimit: Int?
  private let originals: OriginalKeeping
  private let space: @Sendable (String) -> FileSystemSpace?
  /// How long the lock is waited for.
  private let patience: Duration
  private var lock: FileLock?
  private var generation: Generation?
  private var shortage = SpaceShortage()
  private var checkpoints = CheckpointSchedule()
  /// The generation that readers or writers found damaged; it must not stay the current one.
  private var damaged = 0
  /// The generation that a write met damage in last.
  private var suspected = 0
  /// How many databases were opened so far.
  private var openings = 0

  /// - Parameters:
  ///   - byteLimit: What the database may hold as far as this process goes; nil for no opinion.
  ///   - patience: How long the lock of the directory is waited for.
  ///   - space: The room where a path leads; nil for none that is known.
  init(
    _ directory: CacheDirectory, byteLimit: Int?, originals: OriginalKeeping = .none,
    patience: Duration = FileLock.patience,
    space: @escaping @Sendable (String) -> FileSystemSpace? = { FileSystemSpace(at: $0) }
  ) {
    self.originals = originals
    self.patience = patience
    self.space = space
    self.directory = directory
    self.byteLimit = byteLimit
  }

  /// Writes `batch`, keeps the limit, and checkpoints when it is time, all under the directory's lock.
  mutating func write(_ batch: Staging.Batch, now: Int) throws(DiskCacheError) -> Outcome {
    let before = openings
    let lock = try openLock()
    return try lock.withLock(patience: patience) { () throws(DiskCacheError) in
      var outcome = try writeAgainIfDamaged(batch, now: now)
      outcome.hasOpened = openings != before
      return outcome
    }
  }

  /// Notes that `number` is damaged: the next write makes a new generation if it still is the current one.
  mutating func reportDamage(in number: Int) { damaged = max(damaged, number) }

  /// Makes a new, empty generation the current one.
  mutating func startOver() throws(DiskCacheError) {
    let lock = try openLock()
    try lock.withLock(patience: patience) { () throws(DiskCacheError) in
      generation = nil
      generation = try makeGeneration()
    }
  }

  /// Closes the connection. The last one of all processes checkpoints, which must happen under the lock too.
  mutating func close() {
    guard let lock, generation != nil else { return }
    // Without the lock there is nothing better to do than to let the connection go.
    try? lock.withLock(patience: patience) { () throws(DiskCacheError) in generation = nil }
  }

  private mutating func openLock() throws(DiskCacheError) -> FileLock {
    if let lock, lock.isInPlace { return lock }
    // At the first write, or after somebody removed the directory.
    generation = nil
    try directory.create()
    try directory.checkFileSystem()
    let opened = try FileLock(creating: directory.lockPath)
    lock = opened
    return opened
  }

  /// Writes a batch to the current generation, and to a new one where the current one is damaged.
  ///
  /// SQLite calls a database malformed also when it could not read a page of it once. Only what a new connection meets
  /// again is damage; then the generation is left alone, and the batch goes to a new one.
  private mutating func writeAgainIfDamaged(_ batch: Staging.Batch, now: Int) throws(DiskCacheError) -> Outcome {
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

  private mutating func writeLocked(_ batch: Staging.Batch, now: Int) throws(DiskCacheError) -> Outcome {
    let connection = try currentConnection()
    // Read again for each batch: whoever lowers it does not have to restart those who run.
    let limit = try limit()
    // Where nothing can be said of the room, writing will say it.
    let isShort = space(directory.path)?.isShort ?? false
    do {
      return try connection.writeWithoutTransaction { database in
        let transactions = DiskTransactions(database: database, now: now)
        try shortage.update(isShort: isShort, usedBytes: transactions.usedBytes)
        var outcome = Outcome()
        outcome.refused = try transactions.write(batch, ceiling: shortage.ceiling.map { min($0, limit) })
        // Those of other processes that keep originals are not this one's business.
        if originals != .none { try transactions.evictOriginals(downTo: originals.byteLimit(of: limit)) }
        outcome.evicted = try transactions.evict(downTo: limit)
        try transactions.giveSpaceBack()
        try checkpointIfLarge(database, limit: limit)
        return outcome
      }
    } catch {
      throw DiskCacheError(error)
    }
  }

  /// What the database may hold: what the directory says, or less if this process was told so.
  func limit() throws(DiskCacheError) -> Int {
    let stored = try directory.storedLimit()
    return stored.map { min($0, byteLimit ?? .max) } ?? byteLimit ?? ThumbnailCache.Configuration.standardDiskByteLimit
  }

  /// Makes one small change of the current generation, all of it or nothing, under the lock.
  ///
  /// - Parameters:
  ///   - now: Seconds since 1970.
  ///   - body: Returns whether there is more to do.
  mutating func change(now: Int, _ body: (DiskTransactions) throws -> Bool) throws(DiskCacheError) -> Bool {
    let lock = try openLock()
    return try lock.withLock(patience: patience) { () throws(DiskCacheError) in
      let connection = try currentConnection()
      let limit = try limit()
      do {
        return try connection.writeWithoutTransaction { database in
          let hasMore = try body(DiskTransactions(database: database, now: now))
          if hasMore { try checkpointIfLarge(database, limit: limit) } else { try checkpoint(database) }
          return hasMore
        }
      } catch {
        throw DiskCacheError(error)
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
    (shortage, checkpoints) = (SpaceShortage(), CheckpointSchedule())
    return opened.connection
  }

  private func openGeneration(_ current: Int?) throws(DiskCacheError) -> Generation {
    guard let current, current > damaged else { return try makeGeneration() }
    do throws(DiskCacheError) {
      let opened = try DiskDatabase.confirmingDamage { () throws(DiskCacheError) in
        try Generation(number: current, in: directory, open: DiskDatabase.writer)
      }
      directory.removeGenerations(otherThan: current)
      return opened
    } catch {
      // A database that cannot be opened for the moment (no descriptors left, say) is not given up.
      let isGone = error.code == .io && access(directory.databasePath(current), F_OK) != 0 && errno == ENOENT
      guard error.code == .corrupt || isGone else { throw error }
      return try makeGeneration()
    }
  }

  private func makeGeneration() throws(DiskCacheError) -> Generation {
    let number = try directory.createGeneration()
    let made = try Generation(number: number, in: directory, open: DiskDatabase.create)
    try directory.setCurrent(number)
    directory.removeGenerations(otherThan: number)
    return made
  }

  /// Empties the log into the database when it has grown large.
  private mutating func checkpointIfLarge(_ database: Database, limit: Int) throws {
    if checkpoints.isDue(logBytes: logBytes, limit: limit) { try checkpoint(database) }
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
    do {
      connection = try open(directory.databasePath(number))
    } catch {
      throw DiskCacheError(error)
    }
  }
}
