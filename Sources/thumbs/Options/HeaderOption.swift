import ArgumentParser

/// A header field for requests, as the command line says it: `Referer: https://example.com/`.
struct HeaderOption: Hashable, Sendable {
  /// The field's name.
  var name: String
  /// The field's value, without surrounding white space; may be empty.
  var value: String
}

extension HeaderOption {
  /// The field that `text` says. The name is a token (RFC 9110, section 5.6.2); the value has no control characters.
  init(_ text: String) throws {
    guard let colon = text.firstIndex(of: ":") else { throw ValidationError("give a field such as 'Name: value'") }
    name = String(text[..<colon])
    value = try Self.value(String(text[text.index(after: colon)...]))
    guard !name.isEmpty, name.utf8.allSatisfy(Self.isTokenCharacter) else {
      throw ValidationError("the name before the colon has letters, digits and - alone")
    }
    guard !Self.isReserved(name.lowercased()) else {
      throw ValidationError("\(name) is a field that thumbs sets itself; leave it out")
    }
  }

  /// Whether the field says where a request ends, what becomes of its connection, or under which conditions or in which
  /// part an answer is wanted. Such a field of one row would harm the rows that use the same connection or download.
  private static func isReserved(_ name: String) -> Bool {
    reserved.contains(name) || name.hasPrefix("proxy-") || name.hasPrefix("if-")
  }

  private static let reserved: Set<String> = [
    "connection", "content-length", "expect", "http2-settings", "keep-alive", "range", "te", "trailer",
    "transfer-encoding", "upgrade",
  ]

  /// The value of a field that `text` says (RFC 9110, section 5.5).
  static func value(_ text: String) throws -> String {
    let value = text.trimmingWhitespace()
    guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
      throw ValidationError("the value has no line ends or other control characters")
    }
    return value
  }

  private static func isTokenCharacter(_ byte: UInt8) -> Bool {
    let character = Character(Unicode.Scalar(byte))
    return byte < 0x80 && (character.isLetter || character.isNumber || "!#$%&'*+-.^_`|~".contains(character))
  }
}
