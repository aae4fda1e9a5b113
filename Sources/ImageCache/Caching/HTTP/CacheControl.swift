/// The directives of a `Cache-Control` field that matter to a private cache, RFC 9111 section 5.2.2 and RFC 5861.
///
/// `s-maxage`, `private` and `proxy-revalidate` speak to shared caches only.
struct CacheControl: Hashable, Sendable {
  /// Nothing of the response may be kept.
  var noStore = false
  /// The response may be kept, and must be validated before each use.
  var noCache = false
  /// Once stale, the response must not be used without validation, not even when the origin fails.
  var mustRevalidate = false
  /// Seconds of freshness; 0 for a value that is not a number.
  var maxAge: Int?
  /// Seconds past freshness during which the response may stand in for an error.
  var staleIfError: Int?

  /// The directives of a field's value. Unknown ones are ignored; of one that is repeated, the first counts.
  ///
  /// Works on bytes: a look-up in the cache that is served from disk parses this, and characters cost much more.
  init(_ value: String?) {
    guard var value else { return }
    value.withUTF8 { read($0) }
  }

  /// A part of the value, as bytes.
  typealias Word = Slice<UnsafeBufferPointer<UInt8>>

  private mutating func read(_ value: UnsafeBufferPointer<UInt8>) {
    for directive in Self.directives(of: value) {
      let parts = directive.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      let argument = parts.count == 2 ? Self.unquoted(parts[1]) : directive.suffix(0)
      switch String(decoding: Self.trimmed(parts[0]), as: UTF8.self).lowercased() {
      case "no-store": noStore = true
      // A list of field names narrows the directive; not to follow the narrowing is allowed, and safe.
      case "no-cache": noCache = true
      case "must-revalidate": mustRevalidate = true
      case "max-age": maxAge = maxAge ?? Self.deltaSeconds(argument) ?? 0
      case "stale-if-error": staleIfError = staleIfError ?? Self.deltaSeconds(argument) ?? 0
      default: break
      }
    }
  }

  /// A number of seconds, RFC 9111 section 1.2.2: digits only; 2^31 stands for everything larger.
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
