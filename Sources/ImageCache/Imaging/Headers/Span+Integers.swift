/// The byte order of an integer.
enum ByteOrder {
  case big, little

  /// Reads the first bytes of a TIFF structure; nil for others.
  init?(tiff bytes: Span<UInt8>) {
    if bytes.has("II", at: 0) {
      self = .little
    } else if bytes.has("MM", at: 0) {
      self = .big
    } else {
      return nil
    }
  }
}

extension Span where Element == UInt8 {
  /// Returns the 16-bit integer at `offset`, or nil if it is not entirely within the bytes.
  func uint16(at offset: Int, _ order: ByteOrder = .big) -> Int? {
    guard offset >= 0, offset <= count - 2 else { return nil }
    let (first, second) = (Int(self[offset]), Int(self[offset + 1]))
    return order == .big ? first << 8 | second : second << 8 | first
  }

  /// Returns the 32-bit integer at `offset`, or nil if it is not entirely within the bytes.
  func uint32(at offset: Int, _ order: ByteOrder = .big) -> Int? {
    guard let first = uint16(at: offset, order), let second = uint16(at: offset + 2, order) else { return nil }
    return order == .big ? first << 16 | second : second << 16 | first
  }

  /// Returns true if the bytes at `offset` are those of `text`, which is ASCII.
  func has(_ text: StaticString, at offset: Int) -> Bool {
    guard offset >= 0, offset <= count - text.utf8CodeUnitCount else { return false }
    for index in 0..<text.utf8CodeUnitCount where self[offset + index] != text.utf8Start[index] { return false }
    return true
  }
}
