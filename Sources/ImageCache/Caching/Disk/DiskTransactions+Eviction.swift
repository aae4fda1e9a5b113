import FoundationEssentials
import GRDB

/// The outcome of a step of an eviction.
struct Eviction {
  /// The number of rows it removed, plus those it moved to a later place in the order. Zero means that nothing is left
  /// to evict.
  var rows = 0
  /// The number of sources it removed.
  var sources = 0

  static func += (left: inout Eviction, right: Eviction) {
    left.rows += right.rows
    left.sources += right.sources
  }
}

extension DiskTransactions {
  /// Eviction goes below the limit by one part in this many, so that it does not run after every batch.
  private static let slack = reservePart
  /// The approximate size of a row without its body.
  static let rowBytes = 256
  /// The pages returned to the file system in one step.
  private static let vacuumPages = 256
  /// The most rows removed in one transaction.
  private static let evictionBatch = 512

  /// Returns the size of the used pages of the database in bytes.
  func usedBytes() throws -> Int {
    (try pragma("page_count") - pragma("freelist_count")) * DiskDatabase.pageSize
  }

  /// Evicts at most one transaction's worth of the least recently used rows if the database holds more than `limit`
  /// bytes.
  mutating func evict(downTo limit: Int) throws -> Eviction {
    try usedBytes() > limit ? try evictSlack(below: limit) : Eviction()
  }

  /// Evicts at most one transaction's worth of the least recently used rows if the database holds almost `limit` bytes:
  /// the rest of an eviction that ``evict(downTo:)`` began.
  mutating func evictSlack(below limit: Int) throws -> Eviction { try evictSome(downTo: limit - limit / Self.slack) }

  /// Evicts at most one transaction's worth of the least recently used rows; none if the database holds no more than
  /// `limit` bytes.
  mutating func evictSome(downTo limit: Int) throws -> Eviction {
    let excess = try usedBytes() - limit
    guard excess > 0 else { return Eviction() }
    let victims = try EvictionOrder(now: now, slots.order, in: database).first(Self.evictionBatch)
    front = EvictionFront()
    var result = Eviction()
    guard !victims.isEmpty else { return result }
    try inTransaction { transactions in
      try transactions.reuse.begin(in: transactions.database)
      var sum = 0
      for slot in victims where sum < excess {
        sum += try transactions.evict(slot, &result)
      }
    }
    return result
  }

  /// Returns what is evicted until the database holds no more than `limit` bytes, and the number of bytes that this
  /// frees. Evicts in a transaction that is rolled back: how many pages become empty, nothing else can say.
  func rehearsal(downTo limit: Int) throws -> (eviction: Eviction, bytes: Int) {
    var (copy, sum, bytes) = (DiskTransactions(database: database, now: now), Eviction(), 0)
    let before = try usedBytes()
    try database.inTransaction(.immediate) {
      var last = Eviction()
      repeat {
        last = try copy.evictSome(downTo: limit)
        sum += last
      } while last.rows > 0
      bytes = before - (try usedBytes())
      return .rollback
    }
    return (sum, bytes)
  }

  /// Evicts the row of `slot`, and returns the approximate number of bytes that this frees.
  mutating func evict(_ slot: Int, _ result: inout Eviction) throws -> Int {
    guard let (row, bytes) = try content(of: slot) else {
      // The time of a free slot is the result of damage.
      try slots.release(slot, in: database)
      result.rows += 1
      return 0
    }
    guard RowNumber.kind(of: row) == .source else {
      try removeSlot(slot, of: row)
      result.rows += 1
      try evictSourceIfBare(behind: row, &result)
      return bytes + Self.rowBytes
    }
    return try evictSource(in: row, slot: slot, &result)
  }

  /// Evicts a source with all its rows, unless one of its thumbnails was used later.
  private mutating func evictSource(in row: Int, slot: Int, _ result: inout Eviction) throws -> Int {
    let own = try rank(slot)
    let others = try rows(behind: row)
    let latest = try others.map { try rank($0.slot) }.max() ?? own
    if latest > own {
      try slots.note(slot, at: Int(latest), in: database)
      result.rows += 1
      return 0
    }
    let bytes = others.reduce(Self.rowBytes) { $0 + $1.bytes + Self.rowBytes }
    try remember(row, slot)
    for (row, slot, _) in others { try removeSlot(slot, of: row) }
    try removeSlot(slot, of: row)
    result += Eviction(rows: 1 + others.count, sources: 1)
    return bytes
  }

  /// Returns the rank of `slot` in the order of eviction; 0 if it cannot exist.
  mutating func rank(_ slot: Int) throws -> UInt32 {
    try slots.time(of: slot, in: database).map { EvictionOrder.rank($0, now: now) } ?? 0
  }

  /// Evicts the source of an evicted thumbnail if it has no other row. It could only be kept for nothing.
  private mutating func evictSourceIfBare(behind row: Int, _ result: inout Eviction) throws {
    let source = RowNumber.source(of: row)
    guard RowNumber.kind(of: row) == .thumbnail, try rows(behind: source).isEmpty,
      let slot = try StoredRows.slot(of: source, in: database)
    else { return }
    try remember(source, slot)
    try removeSlot(slot, of: source)
    result += Eviction(rows: 1, sources: 1)
  }

  /// Remembers the source in `row`, which is about to be evicted.
  private mutating func remember(_ row: Int, _ slot: Int) throws {
    guard let use = try slots.use(of: slot, in: database) else { return }
    try reuse.remember(row, use, at: now, in: database)
  }

  private mutating func removeSlot(_ slot: Int, of row: Int) throws {
    try remove(row: row, slot: slot)
    // The row may have named another slot, or may have been missing.
    try run("UPDATE slot SET id = NULL, bytes = 0, fresh_until = NULL WHERE number = ?", slot)
    try slots.release(slot, in: database)
  }

  private func content(of slot: Int) throws -> (row: Int, bytes: Int)? {
    var run = try StatementRun("SELECT id, bytes FROM slot WHERE number = ?", in: database)
    run.bind(slot)
    guard var columns = try run.next(), let row = columns.integer() else { return nil }
    return (row, columns.amount() ?? 0)
  }

  /// Returns the thumbnails and the original of the source in `row`.
  private func rows(behind row: Int) throws -> [(row: Int, slot: Int, bytes: Int)] {
    var run = try StatementRun(
      "SELECT id, slot, coalesce(length(body), 0) FROM item WHERE id > ? AND id <= ?", in: database)
    let range = RowNumber.all(ofSourceIn: row)
    run.bind(range.lowerBound)
    run.bind(range.upperBound)
    var rows: [(row: Int, slot: Int, bytes: Int)] = []
    while var columns = try run.next() {
      if let row = columns.integer() { rows.append((row, columns.integer() ?? -1, columns.amount() ?? 0)) }
    }
    return rows
  }
}

// Space.
extension DiskTransactions {
  /// Returns part of the free pages to the file system if they are more than a quarter of the file.
  func giveSpaceBack() throws {
    let (pages, free) = (try pragma("page_count"), try pragma("freelist_count"))
    if free > Self.vacuumPages, free * 4 > pages { _ = try vacuum() }
  }

  /// Returns one step's worth of free pages to the file system; false if there were none.
  func vacuum() throws -> Bool {
    guard try pragma("freelist_count") > 0 else { return false }
    try database.execute(sql: "PRAGMA incremental_vacuum(\(Self.vacuumPages))")
    return true
  }

  /// Returns how many sources are evicted with the least recently used rows that hold `excess` bytes, and the size of
  /// the contents of these rows.
  func oldest(holding excess: Int) throws -> (sources: Int, bytes: Int) {
    guard excess > 0 else { return (0, 0) }
    // Pages are not quite full, and only empty ones are freed.
    let contents = try contentBytes()
    let excess = Int(Double(excess) / Double(max(1, try usedBytes())) * Double(contents))
    let order = try EvictionOrder(now: now, slots.order, in: database)
    var (sources, sum, rows) = (0, 0, 0)
    /// The number of rows behind each source that are not evicted yet.
    var left: [Int: Int] = [:]
    var gone: Set<Int> = []
    for slot in order.first(.max) where sum + rows * Self.rowBytes < excess {
      guard let (row, bytes) = try content(of: slot) else { continue }
      if try isLast(row, &left, &gone) { sources += 1 }
      sum += bytes
      rows += 1
    }
    return (sources, sum)
  }

  /// Returns true if an eviction of `row` removes its source, which goes with the last row behind it. The source's own
  /// row may come before or after that one, and the source counts only once.
  private func isLast(_ row: Int, _ left: inout [Int: Int], _ gone: inout Set<Int>) throws -> Bool {
    let (kind, source) = (RowNumber.kind(of: row), RowNumber.source(of: row))
    guard kind != .verdict else { return false }
    let count = try (left[source] ?? rows(behind: source).count) - (kind == .source ? 0 : 1)
    left[source] = count
    return count <= 0 && gone.insert(source).inserted
  }

  /// Returns the approximate size of all rows.
  func contentBytes() throws -> Int {
    var run = try StatementRun(
      "SELECT sum(\(RowNumber.size) + \(Self.rowBytes)) FROM slot WHERE id IS NOT NULL", in: database)
    guard var columns = try run.next() else { return 0 }
    return columns.integer() ?? 0
  }

  private func pragma(_ name: String) throws -> Int {
    try Int.fetchOne(database.cachedStatement(sql: "PRAGMA \(name)")) ?? 0
  }
}

/// The order in which rows are evicted: those with a last use in the future first, recorded while a clock ran ahead,
/// because everything stored since would otherwise be evicted before them; then by last use.
struct EvictionOrder {
  /// The seconds by which the clocks of processes that share a cache may differ.
  static let clockTolerance = 3600

  private let now: Int
  /// The order within a second.
  private let order: SlotOrder
  /// The times of all slots, by chunk.
  private let chunks: [(number: Int, chunk: UseChunk)]

  /// Reads the times of all slots.
  init(now: Int, _ order: SlotOrder = SlotOrder(), in database: Database) throws {
    (self.now, self.order) = (now, order)
    var run = try StatementRun("SELECT chunk, times FROM used ORDER BY chunk", in: database)
    var chunks: [(Int, UseChunk)] = []
    while var columns = try run.next() {
      guard let number = columns.integer(), SlotTable.isValid(number) else { continue }
      if let bytes = columns.bytes() { chunks.append((number, UseChunk(bytes))) }
    }
    self.chunks = chunks
  }

  /// The number of slots in use, or a few more.
  var count: Int { chunks.count * UseChunk.length }

  /// Returns the next `count` slots in the order of eviction; fewer if there are no more.
  func first(_ count: Int) -> [Int] {
    let limit = threshold(count)
    var (earlier, last): ([(rank: UInt32, slot: Int)], [Int]) = ([], [])
    forEachSlot { slot, rank in
      if rank < limit { earlier.append((rank, slot)) } else if rank == limit { last.append(slot) }
    }
    let ranks = Dictionary(grouping: earlier, by: \.rank).sorted { $0.key < $1.key }
    let slots = ranks.flatMap { order.sorted($0.value.map(\.slot)) } + order.sorted(last)
    return Array(slots.prefix(count))
  }

  /// Returns the rank of a time: rows of lower rank are evicted first.
  static func rank(_ time: UInt32, now: Int) -> UInt32 {
    time > UseChunk.time(now + clockTolerance) ? 0 : time
  }

  /// Returns the smallest rank with which, together with all smaller ones, at least `count` slots are found.
  private func threshold(_ count: Int) -> UInt32 {
    // Neighbors often have the same time, so that counting runs of them fills a small dictionary.
    var counts: [UInt32: Int] = [:]
    var (run, length): (UInt32, Int) = (0, 0)
    forEachSlot { _, rank in
      if rank == run { return length += 1 }
      counts[run, default: 0] += length
      (run, length) = (rank, 1)
    }
    counts[run, default: 0] += length
    var sum = 0
    for rank in counts.keys.sorted() {
      sum += counts[rank] ?? 0
      if sum >= count { return rank }
    }
    return .max
  }

  private func forEachSlot(_ body: (_ slot: Int, _ rank: UInt32) -> Void) {
    let latest = UseChunk.time(now + Self.clockTolerance)
    for (number, chunk) in chunks {
      for index in 0..<UseChunk.length {
        let time = chunk[index]
        if time != UseChunk.free { body(number * UseChunk.length + index, time > latest ? 0 : time) }
      }
    }
  }
}

extension EvictionOrder {
  /// Returns the oldest last use of any row; nil if there are no rows.
  static func oldestUse(in database: Database) throws -> Date? {
    var oldest: UInt32?
    try EvictionOrder(now: 0, in: database).forEachTime { oldest = min(oldest ?? $0, $0) }
    return oldest.map { Date(timeIntervalSince1970: Double($0)) }
  }

  private func forEachTime(_ body: (UInt32) -> Void) {
    for (_, chunk) in chunks {
      for index in 0..<UseChunk.length where chunk[index] != UseChunk.free { body(chunk[index]) }
    }
  }
}

/// The order in which this process last used slots. Times of use are in seconds, in which a fast run replaces the whole
/// contents of a small cache; without the order, it could evict what it has just stored. A plain value.
struct SlotOrder {
  private static let limit = 1 << 16
  private var positions: [Int: Int] = [:]
  private var next = 1

  /// Makes `slot` the last one.
  mutating func append(_ slot: Int) {
    if positions.count >= Self.limit { positions = [:] }
    positions[slot] = next
    next += 1
  }

  /// Returns `slots` in order, beginning with those that are not known, as they come.
  func sorted(_ slots: [Int]) -> [Int] {
    let known = slots.compactMap { slot in positions[slot].map { (position: $0, slot: slot) } }
    guard !known.isEmpty else { return slots }
    return slots.filter { positions[$0] == nil } + known.sorted { $0.position < $1.position }.map(\.slot)
  }
}
