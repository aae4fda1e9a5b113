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
