/// Makes text safe for use in file names.
enum FileNameText {
  /// The maximum length of a file name in bytes: `NAME_MAX` on Linux.
  static let longestName = 255

  /// Replaces separators, control characters, bidirectional controls and characters that other systems forbid in file
  /// names with `_`.
  static func cleaned(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isUnfit) else { return text }
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { result.append(isUnfit(scalar) ? "_" : scalar) }
    return String(result)
  }

  /// Cleans the value of a field. Leading dots become `_`, so that no value is taken for an extension; an empty value
  /// becomes `_`.
  static func cleaned(value: String) -> String {
    let text = cleaned(value)
    return text.isEmpty ? "_" : masked(text) { $0 == "." }
  }

  /// Replaces leading dots, which hide a file, and leading dashes, which look like an option, with `_`, and puts `_`
  /// before a name that Windows reserves for a device. An empty name becomes `_`.
  static func guarded(_ name: String) -> String {
    if name.isEmpty { return "_" }
    let stem = Substring(name.utf8.prefix { $0 != UInt8(ascii: ".") })
    if deviceLengths.contains(stem.utf8.count), devices.contains(stem.uppercased()) { return "_" + name }
    return masked(name) { $0 == "." || $0 == "-" }
  }

  /// Replaces each leading scalar that is `unwanted` with `_`. Compares scalars, not characters, because that is what
  /// systems see: a dot with a combining accent still hides a file.
  private static func masked(_ text: String, _ unwanted: (Unicode.Scalar) -> Bool) -> String {
    let rest = text.unicodeScalars.drop(while: unwanted)
    guard rest.startIndex > text.startIndex else { return text }
    let count = text.unicodeScalars.distance(from: text.startIndex, to: rest.startIndex)
    return String(repeating: "_", count: count) + String(rest)
  }

  /// Returns the names between the slashes of `path`. Splits bytes, as systems do: a slash with a combining accent, one
  /// character, still ends a name.
  static func components(of path: some StringProtocol) -> [String] {
    path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  /// Returns the longest prefix of `text` that has at most `limit` bytes and splits no character.
  static func truncated(_ text: String, to limit: Int) -> String {
    guard text.utf8.count > limit else { return text }
    var count = 0
    let whole = text.prefix { character in
      count += character.utf8.count
      return count <= limit
    }
    if !whole.isEmpty { return String(whole) }
    // The first character alone, with its combining marks, is too long.
    return String(text.unicodeScalars.prefix(limit / 4))
  }

  private static func isUnfit(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "/", "\\", ":", "*", "?", "\"", "<", ">", "|": true
    case "\u{61C}", "\u{200E}", "\u{200F}", "\u{2028}"..."\u{202E}", "\u{2066}"..."\u{2069}", "\u{FEFF}": true
    // Category Cc, which Unicode guarantees never to change.
    case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}": true
    default: false
    }
  }

  /// The names that Windows reserves for devices, with any extension.
  private static let devices: Set<String> = Set(
    ["CON", "PRN", "AUX", "NUL"] + (1...9).flatMap { ["COM\($0)", "LPT\($0)"] })
  /// The lengths of device names in bytes. Rules out most other names without uppercasing them.
  private static let deviceLengths = 3...4
}
