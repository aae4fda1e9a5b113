/// A writer of compact JSON (RFC 8259) in UTF-8. Also escapes characters that a terminal might interpret.
///
/// Values are written in the order of the calls; commas are added automatically.
struct JSONText: Hashable, Sendable {
  /// The JSON written so far.
  private(set) var bytes: [UInt8] = []
  private var needsComma = false

  /// Creates an empty text with room for `capacity` bytes.
  init(capacity: Int = 512) {
    bytes.reserveCapacity(capacity)
  }

  /// Writes an object whose members `body` writes.
  mutating func object(_ body: (inout JSONText) -> Void) {
    enclosed(by: "{", "}", body)
  }

  /// Writes an array whose elements `body` writes.
  mutating func array(_ body: (inout JSONText) -> Void) {
    enclosed(by: "[", "]", body)
  }

  /// Writes the key of the member whose value comes next.
  mutating func key(_ key: StaticString) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    key.withUTF8Buffer { bytes.append(contentsOf: $0) }
    bytes.append(contentsOf: "\":".utf8)
    needsComma = false
  }

  /// Writes a string.
  mutating func value(_ text: String) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    bytes.append(escaping: text)
    bytes.append(UInt8(ascii: "\""))
  }

  /// Writes a number.
  mutating func value(_ number: Int) {
    separate()
    bytes.append(contentsOf: String(number).utf8)
  }

  /// Writes a Boolean value.
  mutating func value(_ flag: Bool) {
    separate()
    bytes.append(contentsOf: (flag ? "true" : "false").utf8)
  }

  /// Writes null.
  mutating func null() {
    separate()
    bytes.append(contentsOf: "null".utf8)
  }

  /// Writes a member with a string value, or null if `text` is nil.
  mutating func member(_ key: StaticString, orNull text: String?) {
    self.key(key)
    if let text { value(text) } else { null() }
  }

  /// Writes a member with a string value.
  mutating func member(_ key: StaticString, _ text: String) {
    self.key(key)
    value(text)
  }

  /// Writes a member with a number.
  mutating func member(_ key: StaticString, _ number: Int) {
    self.key(key)
    value(number)
  }

  /// Writes a member with a Boolean value.
  mutating func member(_ key: StaticString, _ flag: Bool) {
    self.key(key)
    value(flag)
  }

  /// Writes a member with an array of strings.
  mutating func member(_ key: StaticString, _ texts: [String]) {
    self.key(key)
    array { text in
      for element in texts { text.value(element) }
    }
  }

  /// Writes a line feed.
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
}

// MARK: Escaping

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

extension Double {
  /// Formats the number with `places` digits after the decimal point: `12.3`. Independent of the locale and of
  /// Foundation.
  func text(places: Int) -> String {
    let factor = (0..<places).reduce(1.0) { value, _ in value * 10 }
    let scaled = (magnitude * factor).rounded()
    guard scaled < 1e15 else { return description }
    let digits = String(Int(scaled))
    let padded = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
    let sign = self < 0 && scaled > 0 ? "-" : ""
    return places == 0 ? sign + padded : sign + padded.dropLast(places) + "." + padded.suffix(places)
  }
}

extension Int {
  /// The number with commas between groups of three digits: `1,204`. Independent of the locale.
  var grouped: String {
    let digits = Array(String(magnitude).utf8)
    var text = self < 0 ? "-" : ""
    for (place, digit) in digits.enumerated() {
      if place > 0, (digits.count - place).isMultiple(of: 3) { text += "," }
      text.unicodeScalars.append(Unicode.Scalar(digit))
    }
    return text
  }
}

extension String {
  /// The text as one line without control characters: tabs and line breaks become spaces; other control characters, and
  /// those that change the text direction, become U+FFFD.
  var printable: String {
    guard utf8.contains(where: { !(0x20..<0x7F).contains($0) }) else { return self }
    return String(String.UnicodeScalarView(unicodeScalars.map { $0.printable }))
  }

  /// The text with each line made ``printable``.
  var printableLines: String {
    guard utf8.contains(where: { $0 != 0x0A && !(0x20..<0x7F).contains($0) }) else { return self }
    return split(separator: "\n", omittingEmptySubsequences: false).map { String($0).printable }.joined(separator: "\n")
  }

  /// The text, which is JSON, with every unprintable character escaped. The text must have no line breaks outside
  /// strings.
  var printableJSON: String {
    guard unicodeScalars.contains(where: \.isUnprintable) else { return self }
    return unicodeScalars.reduce(into: "") { json, scalar in
      json += scalar.isUnprintable ? scalar.jsonEscape : String(scalar)
    }
  }
}

extension Unicode.Scalar {
  /// True if a terminal may interpret the character or reorder the text around it: control characters (Cc), the
  /// formatting characters of the bidirectional algorithm (UAX 9, section 2), and the line and paragraph separators.
  var isUnprintable: Bool {
    switch value {
    case 0..<0x20, 0x7F...0x9F: true
    case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  fileprivate var printable: Unicode.Scalar {
    guard isUnprintable else { return self }
    return (0x09...0x0D).contains(value) || value == 0x2028 || value == 0x2029 ? " " : "\u{FFFD}"
  }

  /// The escape `\uXXXX` (RFC 8259, section 7). All unprintable characters are in the Basic Multilingual Plane.
  var jsonEscape: String {
    let digits = String(value, radix: 16)
    return "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}
