/// The parts of a URL that file names, tallies and filters use. A lenient reading, which does not validate the URL.
struct SourceURLParts: Hashable, Sendable {
  private let authority: Substring
  private let path: Substring

  /// The parts of `url`.
  init(_ url: String) {
    // Compares bytes: a separator followed by a combining mark is part of another character.
    let end = url.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? url.endIndex
    let rest = url[..<end]
    let colon = rest.utf8.firstIndex(of: UInt8(ascii: ":")) ?? end
    guard rest[colon...].utf8.starts(with: "://".utf8) else {
      (authority, path) = ("", rest)
      return
    }
    let start = rest.utf8.index(colon, offsetBy: 3)
    // A backslash belongs to the authority, as in libcurl: it may be part of a password.
    let slash = rest[start...].utf8.firstIndex(of: UInt8(ascii: "/")) ?? end
    (authority, path) = (rest[start..<slash], rest[slash...])
  }

  /// The host, without user, password and port; empty if there is none.
  var host: String {
    let at = authority.utf8.lastIndex(of: UInt8(ascii: "@"))
    let host = at.map { authority[authority.utf8.index(after: $0)...] } ?? authority
    if host.utf8.first == UInt8(ascii: "[") { return String(host.dropFirst().prefix { $0 != "]" }) }
    return host[..<(host.utf8.firstIndex(of: UInt8(ascii: ":")) ?? host.endIndex)].lowercased()
  }

  /// The last path component, decoded, without its extension; `image` if the path is empty.
  var stem: String {
    let slash = UInt8(ascii: "/")
    guard let end = path.utf8.lastIndex(where: { $0 != slash }) else { return "image" }
    let start = path.utf8[...end].lastIndex(of: slash).map { path.utf8.index(after: $0) } ?? path.startIndex
    let last = Self.decoded(Substring(path.utf8[start...end]))
    let dot = last.utf8.lastIndex(of: UInt8(ascii: ".")) ?? last.endIndex
    return dot == last.startIndex ? last : String(last[..<dot])
  }

  /// Percent-decodes `text`: `%C3%A9` becomes `é`. Returns `text` itself if the result is not UTF-8.
  private static func decoded(_ text: Substring) -> String {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let code = hexadecimal(rest.prefix(2)) {
        bytes.append(code)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(validating: bytes, as: UTF8.self) ?? String(text)
  }

  private static func hexadecimal(_ digits: Substring.UTF8View.SubSequence) -> UInt8? {
    guard digits.count == 2, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else { return nil }
    return UInt8(Substring(digits), radix: 16)
  }
}
