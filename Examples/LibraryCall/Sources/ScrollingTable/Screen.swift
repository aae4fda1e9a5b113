import Foundation

/// Draws the visible rows of a list: in place on a terminal, otherwise one line for each change.
@MainActor struct Screen {
  private let isTerminal = isatty(STDOUT_FILENO) == 1

  /// Clears the terminal and hides the cursor.
  func open() { write("\u{1B}[2J\u{1B}[?25l") }

  /// Shows the cursor again.
  func close() { write("\u{1B}[?25h") }

  /// Draws all visible rows.
  func draw(_ list: IconList) {
    write("\u{1B}[H")
    for row in list.visibleRows { print(line(row, list)) }
    write("\u{1B}[J")
  }

  /// Draws a row that has changed, if it is visible.
  func draw(_ row: Int, _ list: IconList) {
    guard list.visibleRows.contains(row) else { return }
    write("\u{1B}[\(row - list.visibleRows.lowerBound + 1);1H")
    print(line(row, list))
  }

  private func line(_ row: Int, _ list: IconList) -> String {
    list.rows[row].text + (isTerminal ? "\u{1B}[K" : "")
  }

  /// Writes a control sequence, if there is a terminal.
  private func write(_ sequence: String) {
    guard isTerminal else { return }
    print(sequence, terminator: "")
    fflush(nil)
  }
}
