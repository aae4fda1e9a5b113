/// The help of the argument parser, in which each option has one short and one long name, and the usage is wrapped.
///
/// An option may have more names: older ones, and those of similar programs. Only the manual page lists them.
enum FullHelp {
  /// The column of the descriptions.
  private static let column = 26
  /// The maximum length of a line.
  private static let width = 80

  /// Returns `help` without further names of options. The first long name is the one to show.
  static func withoutAliases(_ help: String) -> String {
    var lines: [String] = []
    var pending: String?
    for line in help.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
      if line.hasPrefix("USAGE: ") {
        lines += wrapped(line)
        continue
      }
      // The description of a long label begins on the next line.
      if let label = pending, line.hasPrefix(String(repeating: " ", count: column)) {
        lines.append(padded(label) + line.trimmingWhitespace())
        pending = nil
        continue
      }
      if let label = pending { lines.append(label) }
      pending = nil
      guard let (label, description) = shortened(line) else {
        lines.append(line)
        continue
      }
      if !description.isEmpty {
        lines.append(padded(label) + description)
      } else if label.count < column - 1 {
        pending = label
      } else {
        lines.append(label)
      }
    }
    return (lines + [pending].compactMap(\.self)).joined(separator: "\n")
  }

  /// Returns the message of an error with its usage and the help of its option wrapped. The first line, which may quote
  /// an argument, stays whole.
  static func withShortLines(_ message: String) -> String {
    let lines = message.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    return lines.flatMap { $0.hasPrefix("Usage: ") || $0.hasPrefix("Help: ") ? wrapped($0) : [$0] }
      .joined(separator: "\n")
  }

  /// Breaks a usage or a sentence between its arguments or words into lines of at most ``width`` characters.
  private static func wrapped(_ text: String) -> [String] {
    var lines: [String] = []
    for match in text.matches(of: #/(\s*)((?:\[[^\]]*\]|\S+)(?: \.\.\.)?)/#) {
      if let last = lines.popLast() {
        let isWithin = last.count + match.0.count <= width
        lines += isWithin ? ["\(last)\(match.0)"] : [last, "       \(match.2)"]
      } else {
        lines.append(String(match.0))
      }
    }
    return lines
  }

  private static func padded(_ label: String) -> String {
    label + String(repeating: " ", count: max(1, column - label.count))
  }

  /// Splits a line with several long names into its label, with the first of them only, and its description; nil for
  /// another line.
  private static func shortened(_ line: String) -> (label: String, description: String)? {
    let pattern = #/(\s\s(?:-\w, )*--[\w\-]+)(?:, --[\w\-]+)+(\s<[^>]*>)?\s*(.*)/#
    guard let match = line.wholeMatch(of: pattern) else { return nil }
    return (String(match.1) + String(match.2 ?? ""), String(match.3))
  }
}
