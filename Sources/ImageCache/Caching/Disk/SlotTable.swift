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

  /// Returns the state for ``rollBack(to:)``, without the order: a second reference would make the next change copy it.
  func checkpoint() -> SlotTable {
    var copy = self
    copy.order = SlotOrder()
    return copy
  }

  /// Returns to an earlier state, as the database does. The order may know slots that are free again.
  mutating func rollBack(to checkpoint: SlotTable) {
    let order = order
    self = checkpoint
    self.order = order
  }

  /// Returns a free slot.
  mutating func take(in database: Database) throws -> Int {
    if free.isEmpty { free = try Self.freeSlots(in: database) }
    if let slot = free.popLast() { return slot }
    let slot = try next ?? Self.firstNewSlot(in: database)
    next = slot + 1
    return slot
  }

  /// Records a use of `slot`, the first one of its source that the cache knows of if `isFirst`.
  mutating func note(_ slot: Int, at now: Int, isFirst: Bool = false, in database: Database) throws {
    order.append(slot)
    try set(slot, to: UseChunk.time(now), isFirst: isFirst, in: database)
  }

  /// Returns the last use of `slot` if another one must be recorded: it was an hour ago, or before `start`; nil if not,
  /// or if the slot is free.
  mutating func dueUse(of slot: Int, at now: Int, start: Int?, in database: Database) throws -> ReusePolicy.Use? {
    guard let use = try use(of: slot, in: database), UseChunk.isDue(UInt32(use.time), now: now, start: start) else {
      return nil
    }
    return use
  }

  /// Returns the last use of `slot`; nil if the slot is free, or cannot exist.
  mutating func use(of slot: Int, in database: Database) throws -> ReusePolicy.Use? {
    guard let time = try time(of: slot, in: database), time != UseChunk.free else { return nil }
    let (number, index) = UseChunk.position(of: slot)
    return ReusePolicy.Use(time: Int(time), isFirst: try chunk(number, in: database).isFirst(index))
  }

  /// Marks `slot` as free.
  mutating func release(_ slot: Int, in database: Database) throws {
    try set(slot, to: UseChunk.free, isFirst: false, in: database)
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

  private mutating func set(_ slot: Int, to time: UInt32, isFirst: Bool, in database: Database) throws {
    guard Self.isValid(slot) else { return }
    let (number, index) = UseChunk.position(of: slot)
    let old = try chunk(number, in: database)
    guard old[index] != time || old.isFirst(index) != isFirst else { return }
    chunks[number]?[index] = time
    chunks[number]?.setFirst(index, isFirst)
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

/// A use of a row.
struct SlotUse: Hashable, Sendable {
  var slot: Int
  /// True if the row is that of a source, not that of a thumbnail.
  var isSource: Bool
}

/// The times of last use of consecutive slots, in seconds since 1970, followed by a bit for each slot whose last use
/// was the first one of its source. A plain value over the bytes of a row of `used`.
///
/// Some four bytes per slot keep the table so small that recording the uses of many sources changes few pages.
struct UseChunk: Hashable {
  /// The number of slots in a chunk, which fills a page of the database.
  static let length = 1920
  private static let size = length * 4 + length / 8
  /// The time of a free slot.
  static let free: UInt32 = 0

  private(set) var bytes: [UInt8]

  /// Creates a chunk of free slots.
  init() { bytes = [UInt8](repeating: 0, count: Self.size) }

  /// Creates a chunk from the bytes of a row. Missing bytes stand for free slots.
  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    let missing = Self.size - bytes.count
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

  /// Returns true if the last use of the slot at `index` was the first one of its source.
  func isFirst(_ index: Int) -> Bool { bytes[Self.length * 4 + index / 8] & 1 << (index % 8) != 0 }

  /// Sets whether the last use of the slot at `index` was the first one of its source.
  mutating func setFirst(_ index: Int, _ isFirst: Bool) {
    let (byte, bit) = (Self.length * 4 + index / 8, UInt8(1) << (index % 8))
    if isFirst { bytes[byte] |= bit } else { bytes[byte] &= ~bit }
  }

  /// The time of last use that is recorded for `now`, in seconds since 1970.
  static func time(_ now: Int) -> UInt32 { UInt32(clamping: max(1, now)) }

  /// Returns true if a use at `now` must be recorded: the last one is an hour ago, before `start`, or in the future
  /// because the clock was set back since.
  static func isDue(_ time: UInt32, now: Int, start: Int? = nil) -> Bool {
    if let start, start <= now + EvictionOrder.clockTolerance {
      // Uses have the time of the start while the clock is behind it.
      return time < start || Int(time) < now - DiskCache.useInterval || Int(time) > max(now, start)
    }
    return !(0..<DiskCache.useInterval).contains(now - Int(time))
  }
}

/// The slots whose use need not be recorded now: their last use is less than an hour ago, or has been noted by this
/// process. A plain value with one bit per slot.
struct RecentUses {
  private var chunks: [Int: [UInt64]] = [:]
  private var start: Int?
  /// The time at which all of it is forgotten, because the times have grown older.
  private var end = 0
  private var begin = 0

  /// Returns true, once per hour and epoch, if a use of `slot` at `now` must be recorded.
  ///
  /// In a full cache, the recorded times do not count here: the first lookups of a run are made before its first batch
  /// begins an epoch. The writer decides what is due.
  ///
  /// - Parameters:
  ///   - start: The time at which the current epoch of a full cache began; nil if the cache is not full. Default nil.
  ///   - load: Reads a chunk of recorded times; nil if it does not exist.
  mutating func note(
    _ slot: Int, now: Int, start: Int? = nil, load: (Int) throws -> UseChunk?
  ) rethrows -> Bool {
    if !(begin..<end).contains(now) || start != self.start {
      (begin, end, self.start) = (now, now + DiskCache.useInterval, start)
      chunks = [:]
    }
    let (number, index) = UseChunk.position(of: slot)
    if chunks[number] == nil { chunks[number] = start == nil ? Self.bits(try load(number), now: now) : Self.none }
    let (word, bit) = (index / 64, UInt64(1) << UInt64(index % 64))
    guard let bits = chunks[number]?[word], bits & bit == 0 else { return false }
    chunks[number]?[word] |= bit
    return true
  }

  private static let none = [UInt64](repeating: 0, count: (UseChunk.length + 63) / 64)

  private static func bits(_ chunk: UseChunk?, now: Int) -> [UInt64] {
    var bits = none
    guard let chunk else { return bits }
    for index in 0..<UseChunk.length where !UseChunk.isDue(chunk[index], now: now) {
      bits[index / 64] |= 1 << UInt64(index % 64)
    }
    return bits
  }
}
