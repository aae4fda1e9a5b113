extension String {
  /// The text as one line that a terminal shows and does not obey: a space stands for tabs and line ends, U+FFFD for
  /// other control characters and for those that change the direction of writing.
  var printable: String {
    guard utf8.contains(where: { !(0x20..<0x7F).contains($0) }) else { return self }
    return String(String.UnicodeScalarView(unicodeScalars.map { $0.printable }))
  }

  /// Several such lines.
  var printableLines: String {
    guard utf8.contains(where: { $0 != 0x0A && !(0x20..<0x7F).contains($0) }) else { return self }
    return split(separator: "\n", omittingEmptySubsequences: false).map { String($0).printable }.joined(separator: "\n")
  }

  /// JSON text with an escape in place of every character that a terminal might obey. Outside of strings, JSON has none.
  var printableJSON: String {
    guard unicodeScalars.contains(where: \.isUnprintable) else { return self }
    return unicodeScalars.reduce(into: "") { json, scalar in
      json += scalar.isUnprintable ? scalar.jsonEscape : String(scalar)
    }
  }
}

extension Unicode.Scalar {
  /// Whether a terminal may obey the character, or show those around it in another order: control characters (Cc), and
  /// the ones of Unicode's bidirectional algorithm (UAX 9, section 2) and its line and paragraph separators.
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

  /// RFC 8259, section 7. All of them are in the Basic Multilingual Plane.
  var jsonEscape: String {
    let digits = String(value, radix: 16)
    return "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}
