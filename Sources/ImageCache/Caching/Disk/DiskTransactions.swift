import GRDB

/// The statements that change a generation. All run on the writing connection, under the directory's lock.
struct DiskTransactions {
  let database: Database
  /// Seconds since 1970.
  let now: Int

  /// Writes one batch, all of it or nothing.
  func write(_ batch: Staging.Batch) throws {
    try database.inTransaction(.immediate) {
      for (key, change) in batch.changes {
        try apply(change, to: key)
      }
      for key in batch.used {
        try run("UPDATE source SET last_used = ? WHERE key = ?", [now, key.bytes.asData])
      }
      return .commit
    }
  }

  private func apply(_ change: Staging.Change, to key: SourceKey) throws {
    let stored = try storedSource(key)
    guard let source = change.source else {
      if let stored { try removeSource(stored.id) }
      return
    }
    if let stored, change.replacesAll || !source.hasPicture(stored.digest, url: stored.url) {
      try removeThumbnails(of: stored.id)
    }
    let id = try upsert(source, key: key)
    for thumbnail in change.thumbnails.values {
      try insert(thumbnail, of: id, key: key)
    }
    try run(
      """
      UPDATE source SET (bytes, thumbnails) =
        (SELECT coalesce(sum(length), 0), count(*) FROM thumbnail WHERE source_id = source.id) WHERE id = ?
      """, [id])
  }

  private func storedSource(_ key: SourceKey) throws -> (id: Int64, url: String?, digest: BodyDigest?)? {
    let statement = try database.cachedStatement(sql: "SELECT id, url, digest FROM source WHERE key = ?")
    guard let row = try Row.fetchOne(statement, arguments: [key.bytes.asData]) else { return nil }
    var columns = ColumnReader(row)
    guard let id = columns.integer() else { return nil }
    return (Int64(id), columns.text(), columns.bytes().flatMap { BodyDigest(bytes: $0) })
  }

  private static let upsert: String = {
    let columns = ["key"] + StoredSource.columns + ["fresh_until", "last_used"]
    return """
      INSERT INTO source (\(columns.joined(separator: ", ")))
      VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))
      ON CONFLICT (key) DO UPDATE SET \(columns.map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
      RETURNING id
      """
  }()

  private func upsert(_ source: StoredSource, key: SourceKey) throws -> Int64 {
    let values = [key.bytes.asData] + source.arguments(for: key) + [source.policy.freshUntil, now]
    let statement = try database.cachedStatement(sql: Self.upsert)
    guard let id = try Int64.fetchOne(statement, arguments: StatementArguments(values)) else {
      throw DiskCacheError(.corrupt, "A row that was written has no identifier.")
    }
    return id
  }

  private func insert(_ thumbnail: Thumbnail, of source: Int64, key: SourceKey) throws {
    let spec = thumbnail.spec.cacheText
    try run(
      "DELETE FROM blob WHERE id = (SELECT blob_id FROM thumbnail WHERE source_id = ? AND spec = ?)", [source, spec])
    try run("INSERT INTO blob (data) VALUES (?)", [thumbnail.bytes.asData])
    try run(
      """
      INSERT OR REPLACE INTO thumbnail (\(Thumbnail.columns.joined(separator: ", ")), source_id, blob_id)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      """, thumbnail.arguments(for: key) + [source, database.lastInsertedRowID])
  }

  private func removeThumbnails(of source: Int64) throws {
    try run("DELETE FROM blob WHERE id IN (SELECT blob_id FROM thumbnail WHERE source_id = ?)", [source])
    try run("DELETE FROM thumbnail WHERE source_id = ?", [source])
  }

  private func removeSource(_ id: Int64) throws {
    try removeThumbnails(of: id)
    try run("DELETE FROM source WHERE id = ?", [id])
  }

  private func run(_ sql: String, _ arguments: [(any DatabaseValueConvertible)?]) throws {
    try database.cachedStatement(sql: sql).execute(arguments: StatementArguments(arguments))
  }
}

// Keeping the limit.
extension DiskTransactions {
  /// Eviction aims below the limit by this share, so that it does not run after every batch.
  private static let slack = 20
  /// The most sources that go in one transaction.
  private static let evictionBatch = 256

  /// Bytes of the database that hold something.
  func usedBytes() throws -> Int {
    (try pragma("page_count") - pragma("freelist_count")) * DiskDatabase.pageSize
  }

  /// Removes the sources that were not used for longest until the database holds less than `limit` bytes.
  ///
  /// - Returns: The number of sources removed.
  func evict(downTo limit: Int) throws -> Int {
    guard try usedBytes() > limit else { return 0 }
    var count = 0
    while case let excess = try usedBytes() - (limit - limit / Self.slack), excess > 0 {
      let victims = try oldestSources(holding: excess)
      if victims.isEmpty { break }
      try database.inTransaction(.immediate) {
        for id in victims { try removeSource(id) }
        return .commit
      }
      count += victims.count
    }
    return count
  }

  private func oldestSources(holding excess: Int) throws -> [Int64] {
    let statement = try database.cachedStatement(
      sql: "SELECT id, bytes FROM source ORDER BY last_used, bytes LIMIT \(Self.evictionBatch)")
    var (victims, sum): ([Int64], Int) = ([], 0)
    for row in try Row.fetchAll(statement) where sum < excess {
      var columns = ColumnReader(row)
      guard let id = columns.integer() else { continue }
      victims.append(Int64(id))
      // What a row costs beside its pictures differs; too low a guess only evicts a little more.
      sum += (columns.integer() ?? 0) + 256
    }
    return victims
  }

  /// Gives part of the free pages back to the file system when they are more than a quarter of the file.
  func giveSpaceBack() throws {
    let (pages, free) = (try pragma("page_count"), try pragma("freelist_count"))
    guard free > 512, free * 4 > pages else { return }
    try database.execute(sql: "PRAGMA incremental_vacuum(512)")
  }

  private func pragma(_ name: String) throws -> Int {
    try Int.fetchOne(database.cachedStatement(sql: "PRAGMA \(name)")) ?? 0
  }
}

extension StoredSource {
  /// Whether this is the picture of `digest` at `url`, whose thumbnails stay good.
  fileprivate func hasPicture(_ digest: BodyDigest?, url: String?) -> Bool {
    guard case .picture(_, let own, _) = content else { return false }
    return own == digest && self.url == url
  }
}
