extension String {
  /// The text as one line without control characters: tabs and line breaks become spaces; other control characters, and
  /// those that change the text direction, become U+FFFD.
  var printable: String {
    guard utf8.contains(where: { !(0x20..<0x7F).contains($0) }) else { return self }
    return String(String.UnicodeScalarView(unicodeScalars.map { $0.printable }))
  }

  /// The text with each line made ``printable``.
  var printableLines: String {
    guard utf8.contains(where: { $0 != 0x0A && !(0x20..<0x7F).contains($0) }) else { return self }
    return split(separator: "\n", omittingEmptySubsequences: false).map { String($0).printable }.joined(separator: "\n")
  }

  /// The text, which is JSON, with every unprintable character escaped. The text must have no line breaks outside
  /// strings.
  var printableJSON: String {
    guard unicodeScalars.contains(where: \.isUnprintable) else { return self }
    return unicodeScalars.reduce(into: "") { json, scalar in
      json += scalar.isUnprintable ? scalar.jsonEscape : String(scalar)
    }
  }
}

extension Unicode.Scalar {
  /// True if a terminal may interpret the character or reorder the text around it: control characters (Cc), the
  /// formatting characters of the bidirectional algorithm (UAX 9, section 2), and the line and paragraph separators.
  var isUnprintable: Bool {
    switch value {
    case 0..<0x20, 0x7F...0x9F: true
    case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  fileprivate var printable: Unicode.Scalar {
    guard isUnprintable else { return self }
    return (0x09...0x0D).contains(value) || value == 0x2028 || value == 0x2029 ? " " : "\u{FFFD}"
  }

  /// The escape `\uXXXX` (RFC 8259, section 7). All unprintable characters are in the Basic Multilingual Plane.
  var jsonEscape: String {
    let digits = String(value, radix: 16)
    return "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}
