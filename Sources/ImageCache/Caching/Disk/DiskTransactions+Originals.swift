import GRDB

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
