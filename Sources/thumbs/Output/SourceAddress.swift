/// What a file name takes from an address. A rough reading: whether the address is good is not decided here.
struct SourceAddress: Hashable, Sendable {
  /// The host, without user, password and port; empty where there is none.
  let host: String
  /// The last part of the path without its extension, decoded; `image` where the path has none.
  let stem: String

  /// The parts of `url`.
  init(_ url: String) {
    let end = url.firstIndex { $0 == "?" || $0 == "#" } ?? url.endIndex
    var rest = url[..<end]
    var host = ""
    if let scheme = rest.firstRange(of: "://") {
      let authority = rest[scheme.upperBound...].prefix { $0 != "/" && $0 != "\\" }
      host = Self.host(of: authority)
      rest = rest[authority.endIndex...]
    }
    self.host = host
    let last = Self.decoded(rest.split(separator: "/").last ?? "")
    let dot = last.lastIndex(of: ".") ?? last.endIndex
    self.stem = last.isEmpty ? "image" : dot == last.startIndex ? last : String(last[..<dot])
  }

  private static func host(of authority: Substring) -> String {
    let host = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
    if host.hasPrefix("[") { return String(host.dropFirst().prefix { $0 != "]" }) }
    return host.prefix { $0 != ":" }.lowercased()
  }

  /// `text` with `%C3%A9` as `é`; as it is where that gives no text.
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
