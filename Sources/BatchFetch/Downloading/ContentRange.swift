/// The field `Content-Range` of a 206 (RFC 9110, 14.4): `bytes 200-999/1000`.
struct ContentRange: Equatable {
  /// The position of the first byte, from 0.
  let first: Int
  /// The position of the last byte.
  let last: Int
  /// The length of the whole; nil for `*`.
  let total: Int?

  /// Nil for what is not a range of bytes, or contradicts itself.
  init?(_ value: String) {
    let words = value.trimmed.split(separator: " ")
    guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
    let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
    let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]),
      parts[1] == "*" || Self.number(parts[1]) != nil
    else { return nil }
    self.first = first
    self.last = last
    total = Self.number(parts[1])
    // No body is so long, and one more than its last byte could not be counted.
    guard first <= last, last < .max, total.map({ last < $0 }) ?? true else { return nil }
  }

  /// Digits only: `Int` would take a sign.
  private static func number(_ text: Substring) -> Int? {
    text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
  }
}
