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
    let dots = text.prefix { $0 == "." }.count
    return text.isEmpty ? "_" : String(repeating: "_", count: dots) + text.dropFirst(dots)
  }

  /// `name` with `_` for a dot that would hide it and a dash that would make it an option, and before a name that is a
  /// device elsewhere. An empty name becomes `_`.
  static func guarded(_ name: String) -> String {
    if name.isEmpty { return "_" }
    let stem = name.prefix { $0 != "." }
    if devices.contains(stem.uppercased()) { return "_" + name }
    let lead = name.prefix { $0 == "." || $0 == "-" }
    return String(repeating: "_", count: lead.count) + name.dropFirst(lead.count)
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
    default: scalar.properties.generalCategory == .control
    }
  }

  /// Names that Windows keeps for devices, with any extension.
  private static let devices: Set<String> = Set(
    ["CON", "PRN", "AUX", "NUL"] + (1...9).flatMap { ["COM\($0)", "LPT\($0)"] })
}
