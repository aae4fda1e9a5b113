/// Advice for values that other programs accept.
enum ValueAdvice {
  /// The values to use, by the names of the options and the given values.
  private static let table = [
    "--fit": [
      "crop": "cover", "fill-crop": "cover", "smart": "cover", "thumb": "cover", "max": "inside", "scale": "inside",
      "outside": "cover", "exact": "stretch", "ignore": "stretch", "force": "stretch", "letterbox": "pad",
    ],
    "--format": ["keep": "auto", "source": "auto", "original": "auto", "best": "smallest"],
  ]

  /// Returns `message` of the argument parser with the value to use, if it is about one in the table.
  static func improve(_ message: String) -> String {
    let pattern = #/Error: The value '(?<value>[^'\n]*)' is invalid for '(?<option>--[a-z\-]+) <[^>]*>'\./#
    guard let match = message.prefixMatch(of: pattern),
      let meant = table[String(match.option)]?[match.value.lowercased()]
    else { return message }
    return String(message[match.range]) + " Did you mean '\(meant)'?" + message[match.range.upperBound...]
  }
}
