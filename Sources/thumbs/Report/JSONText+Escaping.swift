extension [UInt8] {
  /// Appends the contents of a JSON string. Escapes quotes, backslashes and control characters, as RFC 8259, section 7
  /// requires, and every other unprintable character. Most strings have none of these and are copied in one piece.
  mutating func append(escaping text: String) {
    guard text.utf8.contains(where: { $0 >= 0x7F }), text.unicodeScalars.contains(where: Self.isUnprintable) else {
      return append(escapingASCII: text)
    }
    for scalar in text.unicodeScalars {
      if Self.isUnprintable(scalar) {
        append(contentsOf: scalar.jsonEscape.utf8)
      } else {
        append(escapingASCII: String(scalar))
      }
    }
  }

  private static func isUnprintable(_ scalar: Unicode.Scalar) -> Bool { scalar.value >= 0x7F && scalar.isUnprintable }

  private mutating func append(escapingASCII text: String) {
    var text = text
    text.withUTF8 { utf8 in
      var rest = utf8[...]
      while let next = rest.firstIndex(where: Self.mustBeEscaped) {
        append(contentsOf: rest[..<next])
        append(escaping: rest[next])
        rest = rest[(next + 1)...]
      }
      append(contentsOf: rest)
    }
  }

  private static func mustBeEscaped(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private mutating func append(escaping byte: UInt8) {
    append(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): append(byte)
    case 0x0A: append(UInt8(ascii: "n"))
    default:
      append(contentsOf: (byte < 0x10 ? "u000" : "u00").utf8)
      append(contentsOf: String(byte, radix: 16).utf8)
    }
  }
}
