/// The table of an LZW decoder: strings of color indices by code (GIF89a, appendix F). A plain value.
struct LZWTable {
  /// The maximum number of codes. A full table stays as it is until it is cleared.
  private static let capacity = 4096

  /// The code that clears the table.
  let clearCode: Int
  /// The code that ends the data.
  var endCode: Int { clearCode + 1 }
  /// The number of bits of the next code.
  private(set) var width: UInt32
  /// The indices of the last code, followed by undefined ones.
  private(set) var string = Array(repeating: UInt8(0), count: capacity)

  private let firstWidth: UInt32
  private var count: Int
  private var previous: Int?
  // Each string is another one and a last index.
  private var prefixes = Array(repeating: UInt16(0), count: capacity)
  private var lasts: [UInt8]
  private var firsts: [UInt8]
  private var lengths = Array(repeating: UInt16(1), count: capacity)

  /// Creates a table for indices of `bits` bits, 1 to 11.
  init(bits: Int) {
    clearCode = 1 << bits
    count = clearCode + 2
    firstWidth = UInt32(bits + 1)
    width = firstWidth
    lasts = (0..<Self.capacity).map { UInt8(truncatingIfNeeded: $0) }
    firsts = lasts
  }

  /// Forgets all strings of more than one index.
  mutating func clear() {
    count = clearCode + 2
    width = firstWidth
    previous = nil
  }

  /// Sets ``string`` to the indices of `code`, which is neither ``clearCode`` nor ``endCode``, and adds the next string
  /// to the table. Returns the number of indices; nil if the table has no such code.
  mutating func expand(_ code: Int) -> Int? {
    guard let previous else {
      guard code < clearCode else { return nil }
      self.previous = code
      string[0] = lasts[code]
      return 1
    }
    guard code < count || code == count && count < Self.capacity else { return nil }
    if count < Self.capacity { add(previous, then: firsts[code == count ? previous : code]) }
    self.previous = code
    return spell(code)
  }

  private mutating func add(_ prefix: Int, then last: UInt8) {
    prefixes[count] = UInt16(prefix)
    lasts[count] = last
    firsts[count] = firsts[prefix]
    lengths[count] = lengths[prefix] + 1
    count += 1
    if count == 1 << width && count < Self.capacity { width += 1 }
  }

  /// Sets ``string``, from the last index to the first.
  private mutating func spell(_ code: Int) -> Int {
    let length = Int(lengths[code])
    var (next, index) = (code, length - 1)
    while index >= 0 {
      string[index] = lasts[next]
      next = Int(prefixes[next])
      index -= 1
    }
    return length
  }
}
