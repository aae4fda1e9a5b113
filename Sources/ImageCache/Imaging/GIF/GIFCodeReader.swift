/// Reads codes of 1 to 12 bits from the sub-blocks of a frame (GIF89a, appendix F).
struct GIFCodeReader {
  /// The offset of the next byte.
  private var offset: Int
  /// The end of the present sub-block.
  private var blockEnd: Int
  private var isTerminated = false
  /// The bits that are read but not part of a code yet, the next one lowest.
  private var bits: UInt32 = 0
  private var count: UInt32 = 0

  /// Creates a reader for the sub-blocks at `start`.
  init(start: Int) { (offset, blockEnd) = (start, start) }

  /// Returns the next code; nil if the sub-blocks end before it. Throws `truncated` if the file does.
  mutating func next(_ width: UInt32, from bytes: Span<UInt8>) throws(ImageError) -> Int? {
    while count < width {
      guard let byte = try nextByte(bytes) else { return nil }
      bits |= UInt32(byte) << count
      count += 8
    }
    let code = bits & (1 << width - 1)
    bits >>= width
    count -= width
    return Int(code)
  }

  /// Returns the offset after the terminator, without reading the rest. Throws `truncated` if it is missing.
  func end(in bytes: Span<UInt8>) throws(ImageError) -> Int {
    if isTerminated { return offset }
    guard let end = GIFBlock.end(ofDataAt: blockEnd, in: bytes) else { throw Self.truncated }
    return end
  }

  private mutating func nextByte(_ bytes: Span<UInt8>) throws(ImageError) -> UInt8? {
    if offset == blockEnd {
      if isTerminated { return nil }
      guard offset < bytes.count else { throw Self.truncated }
      let length = Int(bytes[offset])
      isTerminated = length == 0
      offset += 1
      blockEnd = offset + length
      if isTerminated { return nil }
    }
    guard offset < bytes.count else { throw Self.truncated }
    defer { offset += 1 }
    return bytes[offset]
  }

  static let truncated = ImageError(.truncated, "The GIF file ends before its image data does.")
}
