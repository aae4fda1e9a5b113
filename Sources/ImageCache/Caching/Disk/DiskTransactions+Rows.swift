import GRDB

// Writing and removing single rows, each together with its slot.
extension DiskTransactions {
  /// Writes a row of `item` and its slot.
  ///
  /// - Parameter slot: The slot of the row that is replaced; nil for a new row.
  mutating func put(
    _ record: [UInt8], body: [UInt8] = [], in row: Int, replacing slot: Int?, freshUntil: Int? = nil
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
    try slots.note(slot, at: now, in: database)
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
    for (row, slot) in rows.rows { try remove(row: row, slot: slot) }
    rows = StoredRows()
  }

  /// Removes the thumbnails and the original of a source.
  mutating func removeBodies(_ rows: inout StoredRows) throws {
    try remove(from: &rows) { row in RowNumber.kind(of: row) != .source }
  }

  /// Removes thumbnails from other renderer versions, which are never served.
  mutating func removeOutdated(_ rows: inout StoredRows) throws {
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
