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
