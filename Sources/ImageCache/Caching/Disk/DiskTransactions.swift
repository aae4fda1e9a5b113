import GRDB

/// The statements that change a generation. They run on the writing connection, under the directory's lock.
struct DiskTransactions {
  let database: Database
  /// Seconds since 1970.
  let now: Int
  var slots: SlotTable
  private let names: SpecNames

  /// - Parameters:
  ///   - now: Seconds since 1970.
  ///   - order: The order of the last uses by this process. Default: unknown.
  init(database: Database, now: Int, order: SlotOrder = SlotOrder(), names: SpecNames = SpecNames()) {
    self.database = database
    self.now = now
    self.names = names
    slots = SlotTable(order)
  }

  /// Writes one batch, all or nothing.
  ///
  /// - Parameter ceiling: The most bytes the database may hold while the file system is short of space. Changes that do
  ///   not fit are left out, and no existing entry is evicted for them.
  /// - Returns: The number of changes left out.
  @discardableResult
  mutating func write(_ batch: Staging.ChangeSet, ceiling: Int? = nil) throws -> Int {
    var refused = 0
    try inTransaction { transactions in
      for (key, change) in batch.changes {
        if try !transactions.apply(change, to: key, ceiling: ceiling) { refused += 1 }
      }
      for slot in batch.used.sorted() {
        try transactions.slots.noteIfDue(slot, at: transactions.now, in: transactions.database)
      }
    }
    return refused
  }

  /// Runs `body` in a transaction. If it throws, the database is as before, and this value must not be used again.
  mutating func inTransaction(_ body: (inout Self) throws -> Void) throws {
    try database.inTransaction(.immediate) {
      try body(&self)
      try slots.save(in: database)
      return .commit
    }
  }

  /// Applies a change; returns false and rolls it back if the database would grow above `ceiling`.
  private mutating func apply(_ change: Staging.Change, to key: SourceKey, ceiling: Int?) throws -> Bool {
    guard let ceiling else {
      try apply(change, to: key)
      return true
    }
    var (copy, isApplied) = (self, false)
    let room = max(ceiling, try usedBytes())
    try database.inSavepoint {
      try copy.apply(change, to: key)
      isApplied = try usedBytes() <= room
      return isApplied ? .commit : .rollback
    }
    if isApplied { slots = copy.slots }
    return isApplied
  }

  private mutating func apply(_ change: Staging.Change, to key: SourceKey) throws {
    var rows = try StoredRows(of: key, in: database)
    // Rows of another source with the same place, or of a damaged one, make room.
    if rows.source == nil, !rows.isEmpty { try removeAll(&rows) }
    guard let source = change.source else {
      try removeVerdict(of: rows.source)
      return try removeAll(&rows)
    }
    if !change.replacesAll, let stored = rows.source, !source.replaces(stored) { return }
    guard source.policy.isStorable, let record = SourceRecord.encode(source, key: key) else {
      return try removeAll(&rows)
    }
    if change.replacesAll || !(rows.source.map(source.sharesThumbnails) ?? true) { try removeBodies(&rows) }
    try put(
      record, in: RowNumber.source(key), replacing: rows.rows[RowNumber.source(key)],
      freshUntil: source.isImage ? source.policy.freshUntil : nil)
    try put(change, of: source, key: key, replacing: &rows)
  }

  /// Writes the thumbnails and the original of a change, or the verdict on undecodable bytes.
  private mutating func put(
    _ change: Staging.Change, of source: StoredSource, key: SourceKey, replacing rows: inout StoredRows
  ) throws {
    switch source.content {
    case .failure(_, _, let digest): if let digest { try putVerdict(source, on: digest) }
    case .image(_, let digest, _):
      if !change.thumbnails.isEmpty { try removeOutdated(&rows) }
      for (spec, thumbnail) in change.thumbnails {
        let name = names.name(of: spec)
        guard let record = ThumbnailRecord.encode(thumbnail, specText: name.text, digest: digest) else { continue }
        let row = RowNumber.thumbnail(name, of: key)
        try put(record, body: thumbnail.bytes, in: row, replacing: rows.rows[row])
      }
      if !change.original.isEmpty {
        let row = RowNumber.original(of: key)
        try put(OriginalRecord.encode(digest), body: change.original, in: row, replacing: rows.rows[row])
      }
    }
  }

  private mutating func putVerdict(_ source: StoredSource, on digest: BodyDigest) throws {
    guard let error = source.imageError(of: digest) else { return }
    let row = RowNumber.verdict(on: digest)
    try put(VerdictRecord.encode(error, of: digest), in: row, replacing: try StoredRows.slot(of: row, in: database))
  }

  /// Removes the verdict on the bytes of a failure, so that they are decoded again.
  private mutating func removeVerdict(of source: StoredSource?) throws {
    guard case .failure(_, _, let digest?) = source?.content else { return }
    try remove(row: RowNumber.verdict(on: digest))
  }
}
