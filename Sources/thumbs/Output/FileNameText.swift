/// Rules for the text of file names.
enum FileNameText {
  /// The most bytes of a file name, `NAME_MAX` of Linux.
  static let longestName = 255

  /// `text` with `_` for what makes trouble in a file name: separators, control characters, characters that change
  /// the direction of writing, and those that other systems forbid.
  static func cleaned(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isUnfit) else { return text }
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { result.append(isUnfit(scalar) ? "_" : scalar) }
    return String(result)
  }

  /// `value` of a field, cleaned, and never empty: leading dots become `_`, so that no value is taken for an extension.
  static func cleaned(value: String) -> String {
    let text = cleaned(value)
    return text.isEmpty ? "_" : masked(text) { $0 == "." }
  }

  /// `name` with `_` for a dot that would hide it and a dash that would make it an option, and before a name that is a
  /// device elsewhere. An empty name becomes `_`.
  static func guarded(_ name: String) -> String {
    if name.isEmpty { return "_" }
    let stem = Substring(name.utf8.prefix { $0 != UInt8(ascii: ".") })
    if deviceLengths.contains(stem.utf8.count), devices.contains(stem.uppercased()) { return "_" + name }
    return masked(name) { $0 == "." || $0 == "-" }
  }

  /// `text` with `_` for the scalars it begins with that are `unwanted`: those, not characters, are what systems see.
  private static func masked(_ text: String, _ unwanted: (Unicode.Scalar) -> Bool) -> String {
    let rest = text.unicodeScalars.drop(while: unwanted)
    guard rest.startIndex > text.startIndex else { return text }
    let count = text.unicodeScalars.distance(from: text.startIndex, to: rest.startIndex)
    return String(repeating: "_", count: count) + String(rest)
  }

  /// The longest beginning of `text` of at most `limit` bytes that splits no character.
  static func truncated(_ text: String, to limit: Int) -> String {
    guard text.utf8.count > limit else { return text }
    var count = 0
    let whole = text.prefix { character in
      count += character.utf8.count
      return count <= limit
    }
    if !whole.isEmpty { return String(whole) }
    // One character alone, of more combining marks than fit.
    return String(text.unicodeScalars.prefix(limit / 4))
  }

  private static func isUnfit(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "/", "\\", ":", "*", "?", "\"", "<", ">", "|": true
    case "\u{2028}"..."\u{202E}", "\u{2066}"..."\u{2069}", "\u{FEFF}": true
    // All of the category Cc, which Unicode keeps as it is for ever.
    case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}": true
    default: false
    }
  }

  /// Names that Windows keeps for devices, with any extension.
  private static let devices: Set<String> = Set(
    ["CON", "PRN", "AUX", "NUL"] + (1...9).flatMap { ["COM\($0)", "LPT\($0)"] })
  /// Of their names: most others are told apart by that alone, without a copy in capitals.
  private static let deviceLengths = 3...4
}
