import GRDB

/// The experience of a full cache, and the sources that it knows but does not keep. Changes are written by
/// ``save(in:)``, at the end of a transaction.
///
/// A cache that has never been half full has no ``ReusePolicy``, and remembers nothing.
struct ReuseTable {
  /// The most sources that are known but not kept, per source that is kept.
  private static let ghostsPerSource = 8
  /// The most sources that a small cache knows.
  private static let fewestGhosts = 1024

  private var policy: ReusePolicy?
  private var isLoaded = false
  private var isChanged = false

  /// Returns the policy; nil if the cache has never been half full.
  mutating func policy(in database: Database) throws -> ReusePolicy? {
    if isLoaded { return policy }
    isLoaded = true
    var run = try StatementRun("SELECT state FROM reuse", in: database)
    guard var columns = try run.next() else { return nil }
    // Experience that is damaged is lost, like that of a cache that becomes full for the first time.
    policy = columns.bytes().flatMap { ReusePolicy(json: $0) }
    return policy
  }

  /// The time at which the current epoch began, in seconds since 1970; nil if the cache has never been half full.
  static func start(in database: Database) throws -> Int? {
    var run = try StatementRun("SELECT start FROM reuse", in: database)
    guard var columns = try run.next() else { return nil }
    return columns.integer()
  }

  /// Begins to remember, for a cache that may become full.
  mutating func begin(in database: Database) throws {
    guard try policy(in: database) == nil else { return }
    var run = try StatementRun("SELECT count(*) FROM slot WHERE \(RowNumber.isSource)", in: database)
    guard var columns = try run.next() else { return }
    policy = ReusePolicy(kept: columns.integer() ?? 0)
    isChanged = true
    try database.execute(cached: "DELETE FROM ghost")
  }

  /// Forgets everything, for a cache with ample room.
  mutating func end(in database: Database) throws {
    guard try policy(in: database) != nil else { return }
    policy = nil
    try database.execute(cached: "DELETE FROM ghost")
    try database.execute(cached: "DELETE FROM reuse")
  }

  /// Begins an epoch if one is due.
  mutating func beginEpochIfDue(isNewRun: Bool, at now: Int, in database: Database) throws {
    try change(in: database) { $0.beginEpochIfDue(isNewRun: isNewRun, at: now) }
  }

  /// Records a use of a source that was last used at `last`; nil if the cache does not know it.
  mutating func note(_ last: ReusePolicy.Use?, at now: Int, in database: Database) throws {
    try change(in: database) { $0.note(last, at: now) }
  }

  /// Records that a source, last used as in `use`, is removed for good.
  mutating func forget(_ use: ReusePolicy.Use, at now: Int, in database: Database) throws {
    try change(in: database) { $0.forget(use.time, at: now) }
  }

  /// Writes the changes, and forgets what another process may change next.
  mutating func save(in database: Database) throws {
    if isChanged, let policy {
      var run = try StatementRun("INSERT OR REPLACE INTO reuse (id, start, state) VALUES (0, ?, ?)", in: database)
      run.bind(policy.start)
      run.bind(policy.json)
      try run.finish()
    }
    self = ReuseTable()
  }

  /// Changes the policy, if there is one.
  private mutating func change(in database: Database, _ body: (inout ReusePolicy) throws -> Void) throws {
    guard try policy(in: database) != nil else { return }
    // Moved out and back, because a copy would be made otherwise.
    guard var policy = policy.take() else { return }
    defer { self.policy = policy }
    try body(&policy)
    isChanged = true
  }
}

// MARK: Ghosts

// Sources that are not kept, because they were evicted or not admitted.
extension ReuseTable {
  /// Returns the last use of the source in `row` if the cache knows it, but does not keep it.
  mutating func ghost(of row: Int, in database: Database) throws -> ReusePolicy.Use? {
    guard try policy(in: database) != nil else { return nil }
    var run = try StatementRun("SELECT used, first FROM ghost WHERE id = ?", in: database)
    run.bind(row)
    guard var columns = try run.next(), let time = columns.integer() else { return nil }
    return ReusePolicy.Use(time: time, isFirst: columns.integer() == 1)
  }

  /// Removes the source in `row`, because the cache keeps it again.
  mutating func removeGhost(of row: Int, in database: Database) throws {
    try change(in: database) { policy in
      var run = try StatementRun("DELETE FROM ghost WHERE id = ?", in: database)
      run.bind(row)
      try run.finish()
      policy.countGhosts(-database.changesCount)
    }
  }

  /// Remembers the source in `row`, last used as in `use`. If too many are known, those with the earliest uses are
  /// forgotten, or this one if all were used in the current epoch.
  mutating func remember(_ row: Int, _ use: ReusePolicy.Use, at now: Int, in database: Database) throws {
    try removeGhost(of: row, in: database)
    try change(in: database) { policy in
      let limit = max(Self.fewestGhosts, policy.kept * Self.ghostsPerSource)
      if policy.ghosts >= limit, policy.mayForgetGhosts {
        try policy.forgetGhosts(downTo: limit - limit / 8) { time in
          var run = try StatementRun("DELETE FROM ghost WHERE used < ?", in: database)
          run.bind(time)
          try run.finish()
          return database.changesCount
        }
      }
      guard policy.ghosts < limit else { return policy.forget(use.time, at: now) }
      var run = try StatementRun("INSERT INTO ghost (id, used, first) VALUES (?, ?, ?)", in: database)
      run.bind(row)
      run.bind(use.time)
      run.bind(use.isFirst ? 1 : 0)
      try run.finish()
      policy.countGhosts(1)
    }
  }

  /// Returns the number of sources that were used since `time` and are not kept.
  static func ghosts(usedSince time: Int, in database: Database) throws -> Int {
    var run = try StatementRun("SELECT count(*) FROM ghost WHERE used >= ?", in: database)
    run.bind(time)
    guard var columns = try run.next() else { return 0 }
    return columns.integer() ?? 0
  }
}
