/// Compact JSON, written straight into bytes: RFC 8259, UTF-8. What a terminal might obey is escaped, too.
///
/// Values are written in the order of the calls; commas are put by the writer.
struct JSONText: Hashable, Sendable {
  /// The text so far.
  private(set) var bytes: [UInt8] = []
  private var needsComma = false

  /// No text yet, and room for `capacity` bytes of it.
  init(capacity: Int = 512) {
    bytes.reserveCapacity(capacity)
  }

  /// An object whose members `body` writes.
  mutating func object(_ body: (inout JSONText) -> Void) {
    enclosed(by: "{", "}", body)
  }

  /// An array whose elements `body` writes.
  mutating func array(_ body: (inout JSONText) -> Void) {
    enclosed(by: "[", "]", body)
  }

  /// The key of the member whose value is written next.
  mutating func key(_ key: StaticString) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    key.withUTF8Buffer { bytes.append(contentsOf: $0) }
    bytes.append(contentsOf: "\":".utf8)
    needsComma = false
  }

  /// A string.
  mutating func value(_ text: String) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    append(escaping: text)
    bytes.append(UInt8(ascii: "\""))
  }

  /// A number.
  mutating func value(_ number: Int) {
    separate()
    bytes.append(contentsOf: String(number).utf8)
  }

  /// A truth value.
  mutating func value(_ truth: Bool) {
    separate()
    bytes.append(contentsOf: (truth ? "true" : "false").utf8)
  }

  /// A string member.
  mutating func member(_ key: StaticString, _ text: String) {
    self.key(key)
    value(text)
  }

  /// A number member.
  mutating func member(_ key: StaticString, _ number: Int) {
    self.key(key)
    value(number)
  }

  /// A truth member.
  mutating func member(_ key: StaticString, _ truth: Bool) {
    self.key(key)
    value(truth)
  }

  /// A member that is an array of strings.
  mutating func member(_ key: StaticString, _ texts: [String]) {
    self.key(key)
    array { text in
      for element in texts { text.value(element) }
    }
  }

  /// The end of a line.
  mutating func endLine() {
    bytes.append(UInt8(ascii: "\n"))
    needsComma = false
  }

  private mutating func enclosed(by open: Unicode.Scalar, _ close: Unicode.Scalar, _ body: (inout JSONText) -> Void) {
    separate()
    bytes.append(UInt8(ascii: open))
    needsComma = false
    body(&self)
    bytes.append(UInt8(ascii: close))
    needsComma = true
  }

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
  }

  /// Quotes, backslashes and control characters must be escaped (RFC 8259, section 7); of the rest, what a terminal
  /// might obey is. Most strings have nothing of that and are copied in one piece.
  private mutating func append(escaping text: String) {
    guard text.utf8.contains(where: { $0 >= 0x7F }), text.unicodeScalars.contains(where: Self.isObeyed) else {
      return append(escapingASCII: text)
    }
    for scalar in text.unicodeScalars {
      if Self.isObeyed(scalar) {
        bytes.append(contentsOf: scalar.jsonEscape.utf8)
      } else {
        append(escapingASCII: String(scalar))
      }
    }
  }

  private static func isObeyed(_ scalar: Unicode.Scalar) -> Bool { scalar.value >= 0x7F && scalar.isUnprintable }

  private mutating func append(escapingASCII text: String) {
    var text = text
    text.withUTF8 { utf8 in
      var rest = utf8[...]
      while let next = rest.firstIndex(where: Self.mustBeEscaped) {
        bytes.append(contentsOf: rest[..<next])
        append(escaping: rest[next])
        rest = rest[(next + 1)...]
      }
      bytes.append(contentsOf: rest)
    }
  }

  private static func mustBeEscaped(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private mutating func append(escaping byte: UInt8) {
    bytes.append(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
    case 0x0A: bytes.append(UInt8(ascii: "n"))
    default:
      bytes.append(contentsOf: (byte < 0x10 ? "u000" : "u00").utf8)
      bytes.append(contentsOf: String(byte, radix: 16).utf8)
    }
  }
}
