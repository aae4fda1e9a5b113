/// Builds a page, piece by piece. Text from outside comes in through ``text(_:)`` and ``attribute(_:_:)`` alone, which
/// leave nothing in it that could be markup.
struct HTMLText: Hashable, Sendable {
  /// The page so far, UTF-8.
  private(set) var bytes: [UInt8] = []

  /// Nothing yet.
  init() {}

  /// Markup, as it is: only ever written in the source code.
  mutating func markup(_ markup: StaticString) {
    markup.withUTF8Buffer { bytes.append(contentsOf: $0) }
  }

  /// Text between two tags.
  mutating func text(_ text: String) {
    for scalar in text.unicodeScalars { append(scalar) }
  }

  /// An attribute after a tag's name: ` alt="…"`.
  mutating func attribute(_ name: StaticString, _ value: String) {
    markup(" ")
    markup(name)
    markup("=\"")
    text(value)
    markup("\"")
  }

  /// An attribute that is a number.
  mutating func attribute(_ name: StaticString, _ value: Int) {
    attribute(name, String(value))
  }

  /// The characters that begin or end markup or an attribute become references (HTML, section 13.1.4). A control
  /// character is no part of a page, and a reference to one neither (13.2.2): U+FFFD stands for it.
  private mutating func append(_ scalar: Unicode.Scalar) {
    switch scalar {
    case "&": markup("&amp;")
    case "<": markup("&lt;")
    case ">": markup("&gt;")
    case "\"": markup("&quot;")
    case "'": markup("&#39;")
    case "\t", "\n": bytes.append(UInt8(ascii: " "))
    case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}": markup("\u{FFFD}")
    default: bytes.append(contentsOf: String(scalar).utf8)
    }
  }
}
