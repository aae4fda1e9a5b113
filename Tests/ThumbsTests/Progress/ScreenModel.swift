/// A model of a terminal window that interprets the few escape sequences that the progress display uses.
struct ScreenModel {
  /// The treatment of lines that no longer fit.
  enum Narrowing: CaseIterable {
    /// Wraps them (VTE, kitty, iTerm2, tmux).
    case wraps
    /// Truncates them (xterm, the Linux console).
    case cuts
  }

  private let narrowing: Narrowing
  private var width: Int
  /// The lines, each of which may take several rows.
  private var lines: [[Character]] = [[]]
  private var line = 0
  private var column = 0
  /// False while a line that is full takes no more characters (DECAWM).
  private var wrapsText = true
  /// The escape sequences that the model does not know.
  private(set) var unknown: [String] = []

  init(width: Int, narrowing: Narrowing) {
    self.width = width
    self.narrowing = narrowing
  }

  /// The rows on the screen, without empty ones at the end.
  var rows: [String] {
    var rows = lines.flatMap { line in
      line.isEmpty
        ? [""]
        : stride(from: 0, to: line.count, by: width).map { String(line[$0..<min($0 + width, line.count)]) }
    }
    while rows.last == "" { rows.removeLast() }
    return rows
  }

  /// Changes the width of the window to `width` columns.
  mutating func resize(to width: Int) {
    self.width = width
    guard narrowing == .cuts else { return }
    lines = lines.map { Array($0.prefix(width)) }
    column = min(column, width - 1)
  }

  /// Interprets `text` as a terminal does.
  mutating func show(_ text: String) {
    var rest = Substring(text)
    while let scalar = rest.unicodeScalars.first {
      if scalar == "\u{1B}" { take(code: &rest) } else { put(Character(rest.unicodeScalars.removeFirst())) }
    }
  }

  private mutating func put(_ character: Character) {
    switch character {
    case "\r": column -= column % width
    case "\n":
      line += 1
      column = 0
      if line == lines.count { lines.append([]) }
    default:
      while lines[line].count <= column { lines[line].append(" ") }
      lines[line][column] = character
      column = wrapsText ? column + 1 : min(column + 1, width - 1)
    }
  }

  private mutating func take(code rest: inout Substring) {
    let end = rest.firstIndex { $0.isLetter } ?? rest.index(before: rest.endIndex)
    let code = rest[...end]
    rest = rest[rest.index(after: end)...]
    switch code.last {
    case "J":
      lines[line] = Array(lines[line].prefix(column))
      lines.removeSubrange((line + 1)...)
    case "m": break
    case "h" where code.hasSuffix("[?7h"): wrapsText = true
    case "l" where code.hasSuffix("[?7l"): wrapsText = false
    default: unknown.append(String(code))
    }
  }
}
