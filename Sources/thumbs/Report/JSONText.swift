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
