/// Packs the fields of a record: little-endian numbers, and texts with their length in front.
struct RecordWriter {
  private(set) var bytes: [UInt8] = []

  /// Creates an empty record with room for `capacity` bytes.
  init(capacity: Int = 512) { bytes.reserveCapacity(capacity) }

  /// Adds a number.
  mutating func add(_ number: some FixedWidthInteger) {
    withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
  }

  /// Adds a number or its absence. Negative numbers count as absent.
  mutating func add(amount: Int?) { add(Int64(amount ?? -1)) }

  /// Adds bytes whose number the reader knows.
  mutating func add(raw: some Collection<UInt8>) { bytes.append(contentsOf: raw) }

  /// Adds a text or its absence. The length is stored as a number greater by one; 0 means that there is no text.
  mutating func add(_ text: String?) {
    guard var text else { return add(UInt32(0)) }
    text.withUTF8 { utf8 in
      add(UInt32(truncatingIfNeeded: utf8.count + 1))
      bytes.append(contentsOf: utf8)
    }
  }
}
