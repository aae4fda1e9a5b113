/// Walks over rows that are stored as runs (RLE8 and RLE4). A plain value.
struct DIBRunReader {
  /// A step from one pixel to another.
  enum Step {
    /// Pixels that repeat the index in `value`, with 4 bits the two indices in it.
    case run(value: UInt8, count: Int)
    /// Pixels whose indices begin at `offset`.
    case literal(offset: Int, count: Int)
    /// A move without pixels, to the next row or by an offset.
    case move
    /// The end of the bitmap.
    case end
  }

  /// The number of bits per index: 4 or 8.
  let bitCount: Int
  /// The offset of the next step.
  private(set) var offset: Int
  /// The next pixel. The column may be past the end of the row.
  private(set) var row: Int, column: Int

  init(bitCount: Int, offset: Int, row: Int = 0, column: Int = 0) {
    (self.bitCount, self.offset, self.row, self.column) = (bitCount, offset, row, column)
  }

  /// Returns the next step. Throws `truncated` if the file ends before it.
  mutating func next(_ bytes: Span<UInt8>) throws(ImageError) -> Step {
    guard offset <= bytes.count - 2 else { throw DIBHeader.truncated }
    let (first, second) = (Int(bytes[offset]), bytes[offset + 1])
    offset += 2
    if first > 0 {
      column += first
      return .run(value: second, count: first)
    }
    switch second {
    case 0: (row, column) = (row + 1, 0)
    case 1: return .end
    case 2:
      guard offset <= bytes.count - 2 else { throw DIBHeader.truncated }
      column += Int(bytes[offset])
      row += Int(bytes[offset + 1])
      offset += 2
    default: return try literal(Int(second), in: bytes)
    }
    return .move
  }

  /// Skips the indices of `count` pixels, which are padded to an even number of bytes.
  private mutating func literal(_ count: Int, in bytes: Span<UInt8>) throws(ImageError) -> Step {
    let start = offset
    let length = (count * bitCount + 7) / 8
    guard length <= bytes.count - start else { throw DIBHeader.truncated }
    offset += (length + 1) / 2 * 2
    column += count
    return .literal(offset: start, count: count)
  }
}
