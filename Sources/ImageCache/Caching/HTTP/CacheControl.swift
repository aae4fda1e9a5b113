/// The directives of a `Cache-Control` field that apply to a private cache (RFC 9111, section 5.2.2; RFC 5861).
///
/// `s-maxage`, `private` and `proxy-revalidate` apply to shared caches only.
struct CacheControl: Hashable, Sendable {
  /// `no-store`: no part of the response may be stored.
  var noStore = false
  /// `no-cache`: the response may be stored and must be validated before each use.
  var noCache = false
  /// `must-revalidate`: once stale, the response must not be used without validation, even if the origin fails.
  var mustRevalidate = false
  /// `max-age` in seconds; 0 if its value is not a number.
  var maxAge: Int?
  /// `stale-if-error`: the seconds after it turns stale during which the response may be served in place of an error.
  var staleIfError: Int?

  /// Parses the value of a field. Unknown directives are ignored; of repeated ones, the first counts.
  ///
  /// Works on bytes, because every disk lookup parses this field and iterating over characters is much slower.
  init(_ value: String?) {
    Self.forEachDirective(of: value) { name, argument in
      switch name {
      case "no-store": noStore = true
      // A list of field names narrows `no-cache`. Ignoring the list is allowed and safe.
      case "no-cache": noCache = true
      case "must-revalidate": mustRevalidate = true
      case "max-age": maxAge = maxAge ?? Self.deltaSeconds(argument) ?? 0
      case "stale-if-error": staleIfError = staleIfError ?? Self.deltaSeconds(argument) ?? 0
      default: break
      }
    }
  }

  /// A slice of the value's bytes.
  typealias Word = Slice<UnsafeBufferPointer<UInt8>>

  /// Calls `body` with the name of each directive in lower case, and its argument without quotation marks, which is
  /// empty if it has none.
  static func forEachDirective(of value: String?, _ body: (_ name: String, _ argument: Word) -> Void) {
    guard var value else { return }
    value.withUTF8 { value in
      for directive in directives(of: value) {
        let parts = directive.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        let argument = parts.count == 2 ? unquoted(parts[1]) : directive.suffix(0)
        body(String(decoding: trimmed(parts[0]), as: UTF8.self).lowercased(), argument)
      }
    }
  }

  /// Parses a number of seconds (RFC 9111, section 1.2.2): digits only, capped at 2^31.
  static func deltaSeconds(_ text: some Collection<UInt8>) -> Int? {
    guard !text.isEmpty, text.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return min(Int(String(decoding: text, as: UTF8.self)) ?? Int.max, 1 << 31)
  }

  /// Splits at commas outside quoted strings.
  private static func directives(of value: UnsafeBufferPointer<UInt8>) -> [Word] {
    var isQuoted = false
    return value.split { byte in
      if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
      return byte == UInt8(ascii: ",") && !isQuoted
    }
  }

  private static func unquoted(_ text: Word) -> Word {
    let text = trimmed(text)
    guard text.count >= 2, text.first == UInt8(ascii: "\""), text.last == UInt8(ascii: "\"") else { return text }
    return text.dropFirst().dropLast()
  }

  private static func trimmed(_ text: Word) -> Word {
    let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    var text = text.drop(while: isBlank)
    while let last = text.last, isBlank(last) { text = text.dropLast() }
    return text
  }
}
