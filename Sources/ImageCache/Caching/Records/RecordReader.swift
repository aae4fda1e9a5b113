/// Reads the fields of a record in order. A field outside the record, or longer than its limit, gives a zero or an
/// empty value and makes the whole record unusable.
struct RecordReader {
  private let bytes: UnsafeRawBufferPointer
  private var position = 0
  private var isIntact = true

  /// Reads from `bytes`, which must stay valid as long as the reader is in use.
  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// True if every field so far was inside the record and nothing is left.
  var isComplete: Bool { isIntact && position == bytes.count }

  /// Reads a number.
  mutating func number<Number: FixedWidthInteger>(_: Number.Type = Number.self) -> Number {
    guard let field = take(MemoryLayout<Number>.size) else { return 0 }
    return Number(littleEndian: field.loadUnaligned(as: Number.self))
  }

  /// Reads a time or a size that is used in arithmetic. A number above 2^40 makes the record unusable.
  mutating func amount() -> Int? {
    let value = number(Int64.self)
    if value > 1 << 40 { isIntact = false }
    return value < 0 || !isIntact ? nil : Int(value)
  }

  /// Reads `count` bytes, valid as long as the record; empty if there are fewer.
  mutating func raw(_ count: Int) -> UnsafeRawBufferPointer {
    take(count) ?? UnsafeRawBufferPointer(start: nil, count: 0)
  }

  /// Reads the bytes of a text; nil if it is absent.
  ///
  /// - Parameter limit: The most bytes that the text may have.
  mutating func utf8(atMost limit: Int) -> UnsafeRawBufferPointer? {
    let length = Int(number(UInt32.self))
    guard length > 0 else { return nil }
    guard length - 1 <= limit else {
      isIntact = false
      return nil
    }
    return take(length - 1)
  }

  /// Reads a text; nil if it is absent.
  mutating func text(atMost limit: Int) -> String? {
    utf8(atMost: limit).map { String(decoding: $0, as: UTF8.self) }
  }

  private mutating func take(_ count: Int) -> UnsafeRawBufferPointer? {
    guard isIntact, count >= 0, count <= bytes.count - position else {
      isIntact = false
      return nil
    }
    defer { position += count }
    return UnsafeRawBufferPointer(rebasing: bytes[position..<position + count])
  }
}
