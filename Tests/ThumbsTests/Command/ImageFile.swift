/// The format and size of a complete PNG, WebP, GIF or JPEG file, read according to its specification and without the
/// tested code.
struct ImageFile: Hashable {
  let format: String
  let width: Int
  let height: Int

  /// Reads the headers of `bytes`. Returns nil for other formats and for truncated files.
  init?(_ bytes: [UInt8]) {
    func number(_ offset: Int, _ length: Int) -> Int {
      bytes.dropFirst(offset).prefix(length).reduce(0) { $0 << 8 | Int($1) }
    }
    if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
      // IHDR is the first chunk, IEND the last (PNG Specification, section 5.6).
      guard bytes.suffix(8).prefix(4).elementsEqual("IEND".utf8) else { return nil }
      self.init(format: "png", width: number(16, 4), height: number(20, 4))
      return
    }
    if bytes.starts(with: "RIFF".utf8), bytes.dropFirst(12).starts(with: "VP8X".utf8) {
      // The sides minus 1, with the low byte first (RFC 9649, section 2.7).
      func side(_ offset: Int) -> Int { 1 + Int(bytes[offset]) + Int(bytes[offset + 1]) << 8 }
      guard bytes.count > 30, Int(bytes[4]) + Int(bytes[5]) << 8 + Int(bytes[6]) << 16 == bytes.count - 8 else {
        return nil
      }
      self.init(format: "webp", width: side(24), height: side(27))
      return
    }
    if bytes.starts(with: "GIF89a".utf8) {
      // The logical screen descriptor comes first, the trailer last (GIF89a, sections 18 and 27).
      guard bytes.last == 0x3B else { return nil }
      self.init(format: "gif", width: Int(bytes[6]) + Int(bytes[7]) << 8, height: Int(bytes[8]) + Int(bytes[9]) << 8)
      return
    }
    guard bytes.starts(with: [0xFF, 0xD8]), bytes.suffix(2).elementsEqual([0xFF, 0xD9]) else { return nil }
    var offset = 2
    while offset + 9 < bytes.count, bytes[offset] == 0xFF {
      // SOF0 to SOF2 hold the size (ITU-T T.81, B.2.2).
      if (0xC0...0xC2).contains(bytes[offset + 1]) {
        self.init(format: "jpeg", width: number(offset + 7, 2), height: number(offset + 5, 2))
        return
      }
      offset += 2 + number(offset + 2, 2)
    }
    return nil
  }

  init(format: String, width: Int, height: Int) {
    self.format = format
    self.width = width
    self.height = height
  }
}
