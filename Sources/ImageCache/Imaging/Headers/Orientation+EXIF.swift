extension Orientation {
  /// A malformed EXIF block.
  struct BadEXIF: Error {
    let reason: String
  }

  /// Reads the orientation from an EXIF block: the first directory of a TIFF structure (EXIF 2.32, section 4.5). Nil if
  /// it has no orientation tag.
  init?(exif block: Span<UInt8>) throws(BadEXIF) {
    guard let order = ByteOrder(tiff: block), block.uint16(at: 2, order) == 42 else {
      throw BadEXIF(reason: "it has no TIFF header")
    }
    guard let directory = block.uint32(at: 4, order), let entries = block.uint16(at: directory, order) else {
      throw BadEXIF(reason: "its directory is outside the block")
    }
    guard let entry = try Self.entry(0x0112, in: block, from: directory + 2, count: entries, order) else { return nil }
    // A SHORT is in the first two of the four value bytes. Some writers use LONG.
    let isLong = block.uint16(at: entry + 2, order) == 4
    let value = isLong ? block.uint32(at: entry + 8, order) : block.uint16(at: entry + 8, order)
    guard let orientation = Orientation(rawValue: value ?? 0) else {
      throw BadEXIF(reason: "orientation \(value ?? 0) is undefined")
    }
    self = orientation
  }

  /// Returns the offset of the 12-byte entry for `tag`; nil if there is none.
  private static func entry(
    _ tag: Int, in block: Span<UInt8>, from start: Int, count: Int, _ order: ByteOrder
  ) throws(BadEXIF) -> Int? {
    for index in 0..<count {
      let offset = start + 12 * index
      guard offset + 12 <= block.count else { throw BadEXIF(reason: "its directory is truncated") }
      if block.uint16(at: offset, order) == tag { return offset }
    }
    return nil
  }
}
