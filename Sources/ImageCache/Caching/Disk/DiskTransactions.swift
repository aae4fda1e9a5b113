import CXXHash
import GRDB
import Synchronization

/// The statements that change a generation. They run on the writing connection, under the directory's lock.
struct DiskTransactions {
  let database: Database
  /// Seconds since 1970.
  let now: Int
  var slots: SlotTable
  /// The experience of a full cache.
  var reuse = ReuseTable()
  /// The bytes that sources may take without a comparison with those that are kept; nil without a limit.
  var room: Int?
  /// The filling when the room was measured.
  var filling = Filling.medium
  /// False while the file system is short of space: then no source takes the place of others.
  private(set) var replaces = true
  /// The rows that are evicted next.
  var front: EvictionFront
  /// The success of the searches for gaps.
  var gaps: GapSearch
  /// The number of sources that were missing only because they did not fit earlier.
  var lost = 0
  /// The rows that were evicted for others.
  var evicted = Eviction()
  /// The number of sources that were not admitted.
  var declined = 0
  private let names: SpecNames

  /// - Parameters:
  ///   - now: Seconds since 1970.
  ///   - order: The order of the last uses by this process. Default: unknown.
  ///   - front: The rows that the last batch found to be evicted next. Default: unknown.
  ///   - gaps: The success of earlier searches for gaps. Default: none.
  init(
    database: Database, now: Int, order: SlotOrder = SlotOrder(), front: EvictionFront = EvictionFront(),
    gaps: GapSearch = GapSearch(), names: SpecNames = SpecNames()
  ) {
    self.database = database
    self.now = now
    self.names = names
    self.front = front
    self.gaps = gaps
    slots = SlotTable(order)
  }

  /// Writes one batch, all or nothing.
  ///
  /// - Parameters:
  ///   - ceiling: The most bytes the database may hold while the file system is short of space. Changes that do not fit
  ///     are left out, and no existing entry is evicted for them.
  ///   - isNewRun: True for the first batch of a process.
  /// - Returns: The number of changes left out.
  @discardableResult
  mutating func write(_ batch: Staging.ChangeSet, ceiling: Int? = nil, isNewRun: Bool = false) throws -> Int {
    var refused = 0
    try inTransaction { transactions in
      transactions.replaces = ceiling == nil
      try transactions.beginEpochIfDue(isNewRun: isNewRun)
      for (key, change) in batch.changes {
        if try !transactions.apply(change, to: key, ceiling: ceiling) { refused += 1 }
      }
      for use in batch.used.sorted(by: { $0.slot < $1.slot }) { try transactions.noteIfDue(use) }
    }
    return refused
  }

  /// Runs `body` in a transaction, or in a savepoint of one. If it throws, the database is as before, and this value
  /// must not be used again.
  mutating func inTransaction(_ body: (inout Self) throws -> Void) throws {
    if database.isInsideTransaction {
      try database.inSavepoint { try change(body) }
    } else {
      try database.inTransaction(.immediate) { try change(body) }
    }
  }

  private mutating func change(_ body: (inout Self) throws -> Void) throws -> Database.TransactionCompletion {
    try body(&self)
    try slots.save(in: database)
    try reuse.save(in: database)
    return .commit
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
    if isApplied { self = copy }
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
    let slot = rows.rows[RowNumber.source(key)]
    try admit(change, in: RowNumber.source(key), slot: slot) { transactions, isFirst in
      try transactions.put(
        record, in: RowNumber.source(key), replacing: slot, isFirst: isFirst,
        freshUntil: source.isImage ? source.policy.freshUntil : nil)
      try transactions.put(change, of: source, key: key, replacing: &rows)
    }
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

// MARK: Rows

// Writing and removing single rows, each together with its slot.
extension DiskTransactions {
  /// Writes a row of `item` and its slot.
  ///
  /// - Parameters:
  ///   - slot: The slot of the row that is replaced; nil for a new row.
  ///   - isFirst: True if this is the first use of the source that the cache knows of.
  mutating func put(
    _ record: [UInt8], body: [UInt8] = [], in row: Int, replacing slot: Int?, isFirst: Bool = false,
    freshUntil: Int? = nil
  ) throws {
    let slot = if let slot { slot } else { try slots.take(in: database) }
    var item = try StatementRun(
      "INSERT OR REPLACE INTO item (id, slot, record, body) VALUES (?, ?, ?, ?)", in: database)
    item.bind(row)
    item.bind(slot)
    item.bind(record)
    if body.isEmpty { item.skip(1) } else { item.bind(body) }
    try item.finish()
    var place = try StatementRun(
      "INSERT OR REPLACE INTO slot (number, id, bytes, fresh_until) VALUES (?, ?, ?, ?)", in: database)
    place.bind(slot)
    place.bind(row)
    place.bind(body.count)
    place.bind(freshUntil)
    try place.finish()
    try slots.note(slot, at: try useTime(), isFirst: isFirst, in: database)
  }

  /// Removes a row and frees its slot; does nothing if it does not exist.
  mutating func remove(row: Int) throws {
    guard let slot = try StoredRows.slot(of: row, in: database) else { return }
    try remove(row: row, slot: slot)
  }

  mutating func remove(row: Int, slot: Int) throws {
    try run("DELETE FROM item WHERE id = ?", row)
    // A damaged row may name the slot of another.
    try run("UPDATE slot SET id = NULL, bytes = 0, fresh_until = NULL WHERE number = ? AND id = ?", slot, row)
    if database.changesCount > 0 { try slots.release(slot, in: database) }
  }

  /// Removes all rows of a source.
  mutating func removeAll(_ rows: inout StoredRows) throws {
    for (row, slot) in rows.rows {
      if RowNumber.kind(of: row) == .source, let use = try slots.use(of: slot, in: database) {
        try reuse.forget(use, at: now, in: database)
      }
      try remove(row: row, slot: slot)
    }
    rows = StoredRows()
  }

  /// Removes the thumbnails and the original of a source.
  mutating func removeBodies(_ rows: inout StoredRows) throws {
    try remove(from: &rows) { row in RowNumber.kind(of: row) != .source }
  }

  /// Removes thumbnails from other renderer versions, which are never served.
  private mutating func removeOutdated(_ rows: inout StoredRows) throws {
    guard !rows.rows.isEmpty else { return }
    let outdated = try rows.outdatedThumbnails(in: database)
    try remove(from: &rows, where: outdated.contains)
  }

  private mutating func remove(from rows: inout StoredRows, where isRemoved: (Int) -> Bool) throws {
    for (row, slot) in rows.rows where isRemoved(row) {
      try remove(row: row, slot: slot)
      rows.rows[row] = nil
    }
  }

  /// Runs a statement with integer parameters.
  func run(_ sql: String, _ arguments: Int...) throws {
    var run = try StatementRun(sql, in: database)
    for argument in arguments { run.bind(argument) }
    try run.finish()
  }
}

// Repair.
extension DiskTransactions {
  private static let isLost = """
    id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM item WHERE item.id = slot.id AND item.slot = slot.number)
    """

  /// Counts the rows of `slot`, among the next ones after `previous`, that lead to no row of `item`.
  ///
  /// - Returns: The last slot looked at, and the count; nil if there are no more slots.
  static func lostSlots(after previous: Int, in database: Database) throws -> (last: Int, count: Int)? {
    var run = try StatementRun(
      """
      SELECT max(number), sum(\(isLost)) FROM (SELECT * FROM slot WHERE number > ? ORDER BY number LIMIT 2000) slot
      """, in: database)
    run.bind(previous)
    guard var columns = try run.next(), let last = columns.integer() else { return nil }
    return (last, columns.integer() ?? 0)
  }

  /// Frees the slots that lead nowhere, and removes damaged verdicts.
  mutating func repair() throws {
    try inTransaction { transactions in
      try transactions.run("UPDATE slot SET id = NULL, bytes = 0, fresh_until = NULL WHERE \(Self.isLost)")
      for row in try transactions.damagedVerdicts() { try transactions.remove(row: row) }
    }
  }

  private func damagedVerdicts() throws -> [Int] {
    var run = try StatementRun("SELECT id, record FROM item WHERE \(RowNumber.isVerdict)", in: database)
    var rows: [Int] = []
    while var columns = try run.next() {
      guard let row = columns.integer() else { continue }
      let verdict = columns.withBytes { VerdictRecord($0) } ?? nil
      if verdict.map({ RowNumber.verdict(on: $0.digest) }) != row { rows.append(row) }
    }
    return rows
  }
}

// MARK: Originals

// The downloaded files that thumbnails were made from. They have a share of the limit for themselves.
extension DiskTransactions {
  /// Removes the least recently used files if all files together take more than `limit` bytes.
  mutating func evictOriginals(downTo limit: Int) throws {
    guard try originalBytes() > limit else { return }
    try inTransaction { transactions in
      for (slot, row) in try transactions.originalsByLastUse() {
        guard try transactions.originalBytes() > limit else { return }
        try transactions.remove(row: row, slot: slot)
      }
    }
  }

  /// Returns the total size of all files in bytes.
  func originalBytes() throws -> Int {
    var run = try StatementRun(
      "SELECT sum(\(RowNumber.size)) FROM slot WHERE \(RowNumber.isOriginal)", in: database)
    guard var columns = try run.next() else { return 0 }
    return columns.amount() ?? 0
  }

  private mutating func originalsByLastUse() throws -> [(slot: Int, row: Int)] {
    var run = try StatementRun("SELECT number, id FROM slot WHERE \(RowNumber.isOriginal)", in: database)
    var rows: [Int: Int] = [:]
    while var columns = try run.next() {
      if let slot = columns.integer(), let row = columns.integer() { rows[slot] = row }
    }
    var times: [UInt32: [Int]] = [:]
    for slot in rows.keys.sorted() { times[try rank(slot), default: []].append(slot) }
    let slots = times.sorted { $0.key < $1.key }.flatMap { self.slots.order.sorted($0.value) }
    return slots.compactMap { slot in rows[slot].map { (slot, $0) } }
  }
}

/// The rows of one source in a generation, without their bodies.
struct StoredRows {
  /// The source; nil if there is none, or if its record is damaged or that of another key.
  private(set) var source: StoredSource?
  /// The slots of all rows by row number.
  var rows: [Int: Int] = [:]

  var isEmpty: Bool { rows.isEmpty }

  /// Creates a source without rows.
  init() {}

  /// Reads the rows of the source `key`.
  init(of key: SourceKey, in database: Database) throws {
    var run = try StatementRun("SELECT id, slot, record FROM item WHERE id BETWEEN ? AND ?", in: database)
    let range = RowNumber.all(of: key)
    run.bind(range.lowerBound)
    run.bind(range.upperBound)
    while var columns = try run.next() {
      guard let row = columns.integer() else { continue }
      rows[row] = columns.integer() ?? -1
      guard row == range.lowerBound else { continue }
      let record = columns.withBytes { SourceRecord($0) } ?? nil
      if record?.key == key { source = record?.source }
    }
  }

  /// Returns the slot of `row`; nil if the row does not exist.
  static func slot(of row: Int, in database: Database) throws -> Int? {
    var run = try StatementRun("SELECT slot FROM item WHERE id = ?", in: database)
    run.bind(row)
    guard var columns = try run.next() else { return nil }
    return columns.integer() ?? -1
  }

  /// Returns those rows that hold thumbnails of other renderer versions, or damaged ones.
  fileprivate func outdatedThumbnails(in database: Database) throws -> Set<Int> {
    var result: Set<Int> = []
    for row in rows.keys where RowNumber.kind(of: row) == .thumbnail {
      var run = try StatementRun("SELECT record FROM item WHERE id = ?", in: database)
      run.bind(row)
      guard var columns = try run.next() else { continue }
      let record = columns.withBytes { ThumbnailRecord(withoutBody: $0) } ?? nil
      if record.flatMap({ ThumbnailSpec(cacheText: $0.specText) }) == nil { result.insert(row) }
    }
    return result
  }
}
