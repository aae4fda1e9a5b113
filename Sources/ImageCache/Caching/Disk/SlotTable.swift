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

/// The times of last use of consecutive slots, in seconds since 1970. A plain value over the bytes of a row of `used`.
///
/// Four bytes per slot keep the table so small that recording the uses of many sources changes few pages.
struct UseChunk: Hashable {
  /// The number of slots in a chunk. Their times fill a page of the database.
  static let length = 2000
  /// The time of a free slot.
  static let free: UInt32 = 0

  private(set) var bytes: [UInt8]

  /// Creates a chunk of free slots.
  init() { bytes = [UInt8](repeating: 0, count: Self.length * 4) }

  /// Creates a chunk from the bytes of a row. Missing bytes stand for free slots.
  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    let missing = Self.length * 4 - bytes.count
    if missing > 0 { self.bytes.append(contentsOf: repeatElement(0, count: missing)) }
  }

  /// The number of the chunk with the time of `slot`, and the index in it.
  static func position(of slot: Int) -> (chunk: Int, index: Int) { (slot / length, slot % length) }

  /// The time of the slot at `index`.
  subscript(index: Int) -> UInt32 {
    get {
      bytes.withUnsafeBytes { UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self)) }
    }
    set {
      bytes.withUnsafeMutableBytes {
        $0.storeBytes(of: newValue.littleEndian, toByteOffset: index * 4, as: UInt32.self)
      }
    }
  }

  /// The time of last use that is recorded for `now`, in seconds since 1970.
  static func time(_ now: Int) -> UInt32 { UInt32(clamping: max(1, now)) }

  /// Returns true if a use at `now` must be recorded: the last one is an hour ago, or in the future because the clock
  /// was set back since.
  static func isDue(_ time: UInt32, now: Int) -> Bool {
    !(0..<DiskCache.useInterval).contains(now - Int(time))
  }
}

/// The slots whose use need not be recorded now: their last use is less than an hour ago, or has been noted by this
/// process. A plain value with one bit per slot.
struct RecentUses {
  private var chunks: [Int: [UInt64]] = [:]
  /// The time at which all of it is forgotten, because the times have grown older.
  private var end = 0
  private var begin = 0

  /// Returns true, once per hour, if a use of `slot` at `now` must be recorded.
  ///
  /// - Parameter load: Reads a chunk of recorded times; nil if there is none.
  mutating func note(_ slot: Int, now: Int, load: (Int) throws -> UseChunk?) rethrows -> Bool {
    if !(begin..<end).contains(now) {
      (begin, end) = (now, now + DiskCache.useInterval)
      chunks = [:]
    }
    let (number, index) = UseChunk.position(of: slot)
    if chunks[number] == nil { chunks[number] = Self.bits(try load(number) ?? UseChunk(), now: now) }
    let (word, bit) = (index / 64, UInt64(1) << UInt64(index % 64))
    guard let bits = chunks[number]?[word], bits & bit == 0 else { return false }
    chunks[number]?[word] |= bit
    return true
  }

  private static func bits(_ chunk: UseChunk, now: Int) -> [UInt64] {
    var bits = [UInt64](repeating: 0, count: (UseChunk.length + 63) / 64)
    for index in 0..<UseChunk.length where !UseChunk.isDue(chunk[index], now: now) {
      bits[index / 64] |= 1 << UInt64(index % 64)
    }
    return bits
  }
}
