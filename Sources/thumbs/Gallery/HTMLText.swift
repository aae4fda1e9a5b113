/// Builds HTML piece by piece. Untrusted text can enter only through ``text(_:)`` and ``attribute(_:_:)``, which escape
/// everything that could be markup.
struct HTMLText: Hashable, Sendable {
  /// The HTML so far, in UTF-8.
  private(set) var bytes: [UInt8] = []

  /// Creates an empty text.
  init() {}

  /// Appends markup unchanged. It is a `StaticString`, so that it can only come from the source code.
  mutating func markup(_ markup: StaticString) {
    markup.withUTF8Buffer { bytes.append(contentsOf: $0) }
  }

  /// Appends text between two tags.
  mutating func text(_ text: String) {
    for scalar in text.unicodeScalars { append(scalar) }
  }

  /// Appends an attribute after a tag's name: ` alt="…"`.
  mutating func attribute(_ name: StaticString, _ value: String) {
    markup(" ")
    markup(name)
    markup("=\"")
    text(value)
    markup("\"")
  }

  /// Appends an attribute whose value is a number.
  mutating func attribute(_ name: StaticString, _ value: Int) {
    attribute(name, String(value))
  }

  /// Appends an escaped character. Characters that could begin or end markup or an attribute become references (HTML,
  /// section 13.1.4). Control characters become U+FFFD, because references to them are invalid as well (13.2.2).
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
