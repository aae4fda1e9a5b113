import GRDB

/// The statements that change a generation. They run on the writing connection, under the directory's lock.
struct DiskTransactions {
  let database: Database
  /// Seconds since 1970.
  let now: Int

  /// Writes one batch, all or nothing.
  ///
  /// - Parameter ceiling: The most bytes the database may hold while the file system is short of space. Changes that do
  ///   not fit are left out, and no existing entry is evicted for them.
  /// - Returns: The number of changes left out.
  @discardableResult
  func write(_ batch: Staging.ChangeSet, ceiling: Int? = nil) throws -> Int {
    var refused = 0
    try database.inTransaction(.immediate) {
      for (key, change) in batch.changes {
        if try !apply(change, to: key, ceiling: ceiling) { refused += 1 }
      }
      for key in batch.used {
        try touch(key)
      }
      return .commit
    }
    return refused
  }

  /// Applies a change; returns false and rolls it back if the database would grow above `ceiling`.
  private func apply(_ change: Staging.Change, to key: SourceKey, ceiling: Int?) throws -> Bool {
    guard let ceiling else {
      try apply(change, to: key)
      return true
    }
    var isApplied = false
    let room = max(ceiling, try usedBytes())
    try database.inSavepoint {
      try apply(change, to: key)
      isApplied = try usedBytes() <= room
      return isApplied ? .commit : .rollback
    }
    return isApplied
  }

  private func touch(_ key: SourceKey) throws {
    var run = try StatementRun("UPDATE source SET last_used = ? WHERE key = ?", in: database)
    run.bind(now)
    run.bind(key.bytes)
    try run.finish()
  }

  private func apply(_ change: Staging.Change, to key: SourceKey) throws {
    let stored = try storedSource(key)
    guard let source = change.source else {
      if let stored { try removeSource(stored.id) }
      return
    }
    if !change.replacesAll, let stored, stored.isImage, stored.url == source.url, !source.replacesImages { return }
    guard source.policy.isStorable else {
      if let stored { try removeSource(stored.id) }
      return
    }
    if let stored, change.replacesAll || !source.hasImage(stored.digest, url: stored.url) {
      try removeThumbnails(of: stored.id)
      try removeOriginal(of: stored.id)
    }
    let id = try upsert(source, key: key, thumbnails: change.thumbnails)
    if stored != nil, !change.thumbnails.isEmpty { try removeOutdatedThumbnails(of: id) }
    for thumbnail in change.thumbnails.values {
      if stored != nil { try removeThumbnail(thumbnail.spec, of: id) }
      try insert(thumbnail, of: id, key: key)
    }
    if stored != nil { try recount(id) }
    if !change.original.isEmpty { try insert(original: change.original, of: id) }
  }

  private func storedSource(
    _ key: SourceKey
  ) throws -> (id: Int, isImage: Bool, url: String?, digest: BodyDigest?)? {
    var run = try StatementRun("SELECT id, failure_code IS NULL, url, digest FROM source WHERE key = ?", in: database)
    run.bind(key.bytes)
    guard var columns = try run.next(), let id = columns.integer() else { return nil }
    return (id, columns.integer() == 1, columns.text(), columns.bytes().flatMap { BodyDigest(bytes: $0) })
  }

  private static let upsert: String = {
    let columns = ["key"] + StoredSource.columns + ["fresh_until", "last_used"]
    // The last two values apply to a new row; `recount` updates those of an existing one.
    return """
      INSERT INTO source (\(columns.joined(separator: ", ")), bytes, thumbnails)
      VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")), ?, ?)
      ON CONFLICT (key) DO UPDATE SET \(columns.map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
      RETURNING id
      """
  }()

  private func upsert(
    _ source: StoredSource, key: SourceKey, thumbnails: [ThumbnailSpec: Thumbnail]
  ) throws -> Int {
    var run = try StatementRun(Self.upsert, in: database)
    run.bind(key.bytes)
    source.bind(to: &run, key: key)
    run.bind(source.policy.freshUntil)
    run.bind(now)
    run.bind(thumbnails.values.reduce(0) { $0 + $1.bytes.count })
    run.bind(thumbnails.count)
    guard var columns = try run.next(), let id = columns.integer() else {
      throw DiskCacheError(.corrupt, "SQLite returned no identifier for a stored source.")
    }
    try run.finish()
    return id
  }

  private static let insertion = """
    INSERT INTO thumbnail (\(Thumbnail.columns.joined(separator: ", ")), spec, source_id, blob_id)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, last_insert_rowid())
    """

  private func insert(_ thumbnail: Thumbnail, of source: Int, key: SourceKey) throws {
    var body = try StatementRun("INSERT INTO blob (data) VALUES (?)", in: database)
    body.bind(thumbnail.bytes)
    try body.finish()
    var row = try StatementRun(Self.insertion, in: database)
    thumbnail.bind(to: &row, key: key)
    row.bind(thumbnail.spec.cacheText)
    row.bind(source)
    try row.finish()
  }

  private func recount(_ source: Int) throws {
    try run(
      """
      UPDATE source SET (bytes, thumbnails) =
        (SELECT coalesce(sum(length), 0), count(*) FROM thumbnail WHERE source_id = source.id) WHERE id = ?
      """, source)
  }

  /// Recomputes the totals from the rows.
  func sumUp() throws {
    try database.inTransaction(.immediate) {
      try run("DELETE FROM total")
      try run(
        """
        INSERT INTO total SELECT failure_code IS NOT NULL, fresh_until, count(*), sum(thumbnails), sum(bytes)
        FROM source GROUP BY 1, 2
        """)
      try run("UPDATE original_total SET bytes = (SELECT coalesce(sum(length), 0) FROM original)")
      return .commit
    }
  }

  private func removeThumbnail(_ spec: ThumbnailSpec, of source: Int) throws {
    let (row, hash) = ("FROM thumbnail WHERE source_id = ? AND spec_hash = ?", spec.cacheHash)
    try run("DELETE FROM blob WHERE id = (SELECT blob_id \(row))", source, hash)
    try run("DELETE \(row)", source, hash)
  }

  private func removeThumbnails(of source: Int) throws {
    try run("DELETE FROM blob WHERE id IN (SELECT blob_id FROM thumbnail WHERE source_id = ?)", source)
    try run("DELETE FROM thumbnail WHERE source_id = ?", source)
  }

  /// Removes thumbnails from other renderer versions, which are never served. They would otherwise stay as long as the
  /// source is used.
  private func removeOutdatedThumbnails(of source: Int) throws {
    let rows = "FROM thumbnail WHERE source_id = ? AND spec NOT LIKE '\(Renderer.version) %'"
    try run("DELETE FROM blob WHERE id IN (SELECT blob_id \(rows))", source)
    try run("DELETE \(rows)", source)
  }

  private func removeSource(_ id: Int) throws {
    try removeThumbnails(of: id)
    try removeOriginal(of: id)
    try run("DELETE FROM source WHERE id = ?", id)
  }

  /// Runs a statement with integer parameters.
  func run(_ sql: String, _ arguments: Int...) throws {
    var run = try StatementRun(sql, in: database)
    for argument in arguments { run.bind(argument) }
    try run.finish()
  }
}

// Eviction.
extension DiskTransactions {
  /// Eviction goes below the limit by one part in this many, so that it does not run after every batch.
  private static let slack = 20
  /// Sources and their sizes in the order of eviction. Those with a last use in the future, recorded while a clock ran
  /// ahead, go first; otherwise everything stored since would be evicted before them. The others follow by last use.
  /// Both parts are read from the index, one after the other.
  private static let victims = [">", "<="].map { comparison in
    """
    SELECT s.id, s.bytes + coalesce(o.length, 0) FROM source s LEFT JOIN original o ON o.source_id = s.id
    WHERE s.last_used \(comparison) ? ORDER BY s.last_used, s.bytes
    """
  }
  /// The seconds by which the clocks of processes that share a cache may differ.
  private static let clockTolerance = 3600
  /// The approximate size of a source without its bodies.
  private static let rowBytes = 256
  /// The pages returned to the file system in one step.
  private static let vacuumPages = 512
  /// The most sources removed in one transaction.
  private static let evictionBatch = 256

  /// Returns the size of the used pages of the database in bytes.
  func usedBytes() throws -> Int {
    (try pragma("page_count") - pragma("freelist_count")) * DiskDatabase.pageSize
  }

  /// Evicts at most one transaction's worth of the least recently used sources if the database holds more than `limit`
  /// bytes.
  ///
  /// - Returns: The number of sources removed.
  func evict(downTo limit: Int) throws -> Int {
    try usedBytes() > limit ? try evictSlack(below: limit) : 0
  }

  /// Evicts at most one transaction's worth of the least recently used sources if the database holds almost `limit`
  /// bytes: the rest of an eviction that ``evict(downTo:)`` began.
  ///
  /// - Returns: The number of sources removed.
  func evictSlack(below limit: Int) throws -> Int { try evictSome(downTo: limit - limit / Self.slack) }

  /// Evicts at most one transaction's worth of the least recently used sources; none if the database holds no more than
  /// `limit` bytes.
  ///
  /// - Returns: The number of sources removed.
  func evictSome(downTo limit: Int) throws -> Int {
    let excess = try usedBytes() - limit
    guard excess > 0 else { return 0 }
    let victims = try sources(holding: excess)
    if victims.isEmpty { return 0 }
    try database.inTransaction(.immediate) {
      for id in victims { try removeSource(id) }
      return .commit
    }
    return victims.count
  }

  /// Returns the sources to evict next, until they hold `excess` bytes or fill a transaction.
  private func sources(holding excess: Int) throws -> [Int] {
    var (victims, sum): ([Int], Int) = ([], 0)
    try forEachVictim { id, bytes in
      victims.append(id)
      // The true size of a row varies. Too low a guess only evicts a little more.
      sum += bytes + Self.rowBytes
      return sum < excess && victims.count < Self.evictionBatch
    }
    return victims
  }

  /// Calls `body` with each source and its size, in the order of eviction, until it returns false.
  private func forEachVictim(_ body: (_ id: Int, _ bytes: Int) -> Bool) throws {
    for selection in Self.victims {
      var run = try StatementRun(selection, in: database)
      run.bind(now + Self.clockTolerance)
      while var columns = try run.next() {
        guard let id = columns.integer() else { continue }
        if !body(id, columns.amount() ?? 0) { return }
      }
    }
  }

  /// Returns part of the free pages to the file system if they are more than a quarter of the file.
  func giveSpaceBack() throws {
    let (pages, free) = (try pragma("page_count"), try pragma("freelist_count"))
    if free > Self.vacuumPages, free * 4 > pages { _ = try vacuum() }
  }

  /// Returns how many of the least recently used sources hold `excess` bytes, and the size of their contents.
  func oldest(holding excess: Int) throws -> (sources: Int, bytes: Int) {
    var (count, sum) = (0, 0)
    guard excess > 0 else { return (0, 0) }
    try forEachVictim { _, bytes in
      count += 1
      sum += bytes
      return sum + count * Self.rowBytes < excess
    }
    return (count, sum)
  }

  /// Returns one step's worth of free pages to the file system; false if there were none.
  func vacuum() throws -> Bool {
    guard try pragma("freelist_count") > 0 else { return false }
    try database.execute(sql: "PRAGMA incremental_vacuum(\(Self.vacuumPages))")
    return true
  }

  private func pragma(_ name: String) throws -> Int {
    try Int.fetchOne(database.cachedStatement(sql: "PRAGMA \(name)")) ?? 0
  }
}

extension StoredSource {
  /// Returns true if this is the image of `digest` at `url`, so that its thumbnails stay valid.
  fileprivate func hasImage(_ digest: BodyDigest?, url: String?) -> Bool {
    guard case .image(_, let own, _) = content else { return false }
    return own == digest && self.url == url
  }
}
