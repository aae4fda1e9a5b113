import GRDB

/// Gives slots to rows and records when they were last used. Changes of times are written by ``save(in:)``, at the end
/// of a transaction.
struct SlotTable {
  /// The order of the last uses by this process.
  private(set) var order: SlotOrder
  private var chunks: [Int: UseChunk] = [:]
  private var changed: Set<Int> = []
  /// Free slots to be given next.
  private var free: [Int] = []
  private var next: Int?

  init(_ order: SlotOrder) { self.order = order }

  /// Returns a free slot.
  mutating func take(in database: Database) throws -> Int {
    if free.isEmpty { free = try Self.freeSlots(in: database) }
    if let slot = free.popLast() { return slot }
    let slot = try next ?? Self.firstNewSlot(in: database)
    next = slot + 1
    return slot
  }

  /// Records a use of `slot`.
  mutating func note(_ slot: Int, at now: Int, in database: Database) throws {
    order.append(slot)
    try set(slot, to: UseChunk.time(now), in: database)
  }

  /// Records a use of `slot` unless it is free or was used less than an hour ago.
  mutating func noteIfDue(_ slot: Int, at now: Int, in database: Database) throws {
    guard let time = try time(of: slot, in: database), time != UseChunk.free, UseChunk.isDue(time, now: now) else {
      return
    }
    try note(slot, at: now, in: database)
  }

  /// Marks `slot` as free.
  mutating func release(_ slot: Int, in database: Database) throws {
    try set(slot, to: UseChunk.free, in: database)
  }

  /// The last use of `slot`; nil if no such slot can exist.
  mutating func time(of slot: Int, in database: Database) throws -> UInt32? {
    guard Self.isValid(slot) else { return nil }
    let (number, index) = UseChunk.position(of: slot)
    return try chunk(number, in: database)[index]
  }

  /// Writes the changed times, and forgets what another process may change next.
  mutating func save(in database: Database) throws {
    for number in changed {
      guard let chunk = chunks[number] else { continue }
      var run = try StatementRun("INSERT OR REPLACE INTO used (chunk, times) VALUES (?, ?)", in: database)
      run.bind(number)
      run.bind(chunk.bytes)
      try run.finish()
    }
    self = SlotTable(order)
  }

  /// Reads a chunk of times; nil if it does not exist or is damaged.
  static func chunk(_ number: Int, in database: Database) throws -> UseChunk? {
    var run = try StatementRun("SELECT times FROM used WHERE chunk = ?", in: database)
    run.bind(number)
    guard var columns = try run.next() else { return nil }
    return columns.bytes().map(UseChunk.init)
  }

  /// True unless a damaged row holds the number.
  static func isValid(_ slot: Int) -> Bool { 0..<1 << 40 ~= slot }

  private mutating func set(_ slot: Int, to time: UInt32, in database: Database) throws {
    guard Self.isValid(slot) else { return }
    let (number, index) = UseChunk.position(of: slot)
    guard try chunk(number, in: database)[index] != time else { return }
    chunks[number]?[index] = time
    changed.insert(number)
  }

  private mutating func chunk(_ number: Int, in database: Database) throws -> UseChunk {
    if let chunk = chunks[number] { return chunk }
    let chunk = try Self.chunk(number, in: database) ?? UseChunk()
    chunks[number] = chunk
    return chunk
  }

  private static func freeSlots(in database: Database) throws -> [Int] {
    var run = try StatementRun("SELECT number FROM slot WHERE id IS NULL LIMIT 64", in: database)
    var slots: [Int] = []
    while var columns = try run.next() {
      if let slot = columns.integer(), isValid(slot) { slots.append(slot) }
    }
    return slots
  }

  private static func firstNewSlot(in database: Database) throws -> Int {
    var run = try StatementRun("SELECT max(number) FROM slot", in: database)
    guard var columns = try run.next(), let last = columns.integer(), isValid(last) else { return 0 }
    return last + 1
  }
}
