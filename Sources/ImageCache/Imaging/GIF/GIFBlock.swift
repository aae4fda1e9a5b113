/// The blocks of a GIF file (GIF89a, section 12).
enum GIFBlock {
  static let frame: UInt8 = 0x2C
  static let extensionBlock: UInt8 = 0x21
  static let trailer: UInt8 = 0x3B

  /// Returns the offset after the sub-blocks at `start` and their terminator; nil if `bytes` end before.
  static func end(ofDataAt start: Int, in bytes: Span<UInt8>) -> Int? {
    var offset = start
    while offset < bytes.count {
      let length = Int(bytes[offset])
      offset += 1 + length
      if length == 0 { return offset }
    }
    return nil
  }

  /// The end of a file.
  enum Ending { case complete, missingTrailer, garbage, truncated }

  /// Walks the blocks from `start`, without decoding them, to find out if the file is complete.
  static func ending(of bytes: Span<UInt8>, from start: Int) -> Ending {
    var offset = start
    while offset < bytes.count {
      let data: Int
      switch bytes[offset] {
      case trailer: return .complete
      case extensionBlock: data = offset + 2
      case frame:
        guard offset <= bytes.count - 10 else { return .truncated }
        let flags = bytes[offset + 9]
        data = offset + 11 + (flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1))
      default: return .garbage
      }
      guard let end = end(ofDataAt: data, in: bytes) else { return .truncated }
      offset = end
    }
    return .missingTrailer
  }
}
