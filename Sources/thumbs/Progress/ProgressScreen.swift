/// The state of the progress display, and the text to write to update it. Times are measured from the start of the run.
///
/// The cursor rests at the start of the live line. If the window becomes narrower, a terminal wraps the line and moves
/// the cursor with its first row, so clearing everything below the cursor removes all rows.
struct ProgressScreen: Hashable, Sendable {
  /// Clears everything from the start of the line to the end of the screen (ED, ECMA-48, section 8.3.39).
  private static let clear = "\r\u{1B}[J"

  private let mode: ProgressMode
  private let style: ProgressStyle
  private var nextDraw: Duration?
  private var isLineShown = false

  /// Creates an empty screen. `mode` must not be `auto`.
  init(_ mode: ProgressMode, style: ProgressStyle = .plain) {
    self.mode = mode
    self.style = style
    nextDraw = mode.interval
  }

  /// Returns the text to write at `time`: all `notes`, each on its own line, and the progress if it is due. With
  /// `isHidden`, a live line is not drawn, because the terminal shows another job.
  mutating func draw(
    _ state: ProgressState, notes: [String] = [], width: Int, isHidden: Bool = false, at time: Duration
  ) -> String {
    let isDue = nextDraw.map { time >= $0 } ?? false
    guard isDue || !notes.isEmpty else { return "" }
    var text = take(notes)
    if isDue { nextDraw = mode.interval.map { time + $0 } }
    switch mode {
    case .bar where isHidden: isLineShown = false
    case .bar, .auto:
      // Writes the new line first and then clears the rest of the old one. Clearing first would flicker.
      text += state.line(width: width, at: time, style: style) + "\u{1B}[J\r"
      isLineShown = true
    case .plain where isDue: text += state.plainLine(at: time) + "\n"
    case .json where isDue: text += state.jsonLine(at: time) + "\n"
    case .plain, .json, .none: break
    }
    return text
  }

  /// Returns the text to write at the end. It removes the live line.
  mutating func end(_ state: ProgressState, notes: [String] = [], at time: Duration) -> String {
    nextDraw = nil
    let text = take(notes)
    if mode == .json { return text + state.jsonLine(at: time) + "\n" }
    defer { isLineShown = false }
    return text + (isLineShown ? Self.clear : "")
  }

  private mutating func take(_ notes: [String]) -> String {
    guard !notes.isEmpty else { return "" }
    defer { isLineShown = false }
    return (isLineShown ? Self.clear : "") + notes.map { $0 + "\n" }.joined()
  }
}
