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
  init(_ value: String?) {
    for directive in Self.directives(of: value ?? "") {
      let parts = directive.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let argument = parts.count == 2 ? Self.unquoted(parts[1]) : ""
      switch Self.trimmed(parts[0]).lowercased() {
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
  static func deltaSeconds(_ text: Substring) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return min(Int(text) ?? Int.max, 1 << 31)
  }

  /// Splits at commas outside quoted strings.
  private static func directives(of value: String) -> [Substring] {
    var isQuoted = false
    return value.split { character in
      if character == "\"" { isQuoted.toggle() }
      return character == "," && !isQuoted
    }
  }

  private static func unquoted(_ text: Substring) -> Substring {
    let text = trimmed(text)
    guard text.count >= 2, text.first == "\"", text.last == "\"" else { return text }
    return text.dropFirst().dropLast()
  }

  private static func trimmed(_ text: Substring) -> Substring {
    let isBlank = { (character: Character) in character == " " || character == "\t" }
    return text.drop(while: isBlank).reversedDrop(while: isBlank)
  }
}

extension Substring {
  fileprivate func reversedDrop(while predicate: (Character) -> Bool) -> Substring {
    var end = endIndex
    while end > startIndex, predicate(self[index(before: end)]) { end = index(before: end) }
    return self[..<end]
  }
}
