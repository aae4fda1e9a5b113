/// Text in UTF-16, which XML documents may have (XML 1.0, section 4.3.3).
enum WideText {
  /// Returns the text that begins with `prefix` in UTF-8, without its byte order mark; nil for other bytes. A document
  /// without the mark is recognized by `<?` (section F.1).
  static func utf8(_ prefix: Span<UInt8>) -> [UInt8]? {
    switch (prefix.uint16(at: 0), prefix.uint16(at: 2)) {
    case (0xFEFF, _): converted(prefix.extracting(2...), .big)
    case (0xFFFE, _): converted(prefix.extracting(2...), .little)
    case (0x003C, 0x003F): converted(prefix, .big)
    case (0x3C00, 0x3F00): converted(prefix, .little)
    default: nil
    }
  }

  private static func converted(_ bytes: Span<UInt8>, _ order: ByteOrder) -> [UInt8] {
    var units: [UInt16] = []
    for offset in stride(from: 0, to: bytes.count - 1, by: 2) {
      units.append(UInt16(bytes.uint16(at: offset, order) ?? 0))
    }
    return Array(String(decoding: units, as: UTF16.self).utf8)
  }
}
