/// What is on the screen of a run's progress, and what must be written to change it. Times are counted from the start.
///
/// The cursor rests at the start of the live line. When the window becomes narrower, a terminal breaks the line into
/// several and takes the cursor along to the first of them, so that emptying all below the cursor takes them away.
struct ProgressScreen: Hashable, Sendable {
  /// Empties everything from the cursor on (ED, ECMA-48, section 8.3.39).
  private static let clear = "\r\u{1B}[J"

  private let mode: ProgressMode
  private let style: ProgressStyle
  private var nextDraw: Duration?
  private var isLineShown = false

  /// An empty screen for `mode`, which is not `auto`.
  init(_ mode: ProgressMode, style: ProgressStyle = .plain) {
    self.mode = mode
    self.style = style
    nextDraw = mode.interval
  }

  /// What to write at `time`: `notes` at once, each on a line of its own; the progress, when it is time.
  mutating func draw(_ state: ProgressState, notes: [String] = [], width: Int, at time: Duration) -> String {
    let isDue = nextDraw.map { time >= $0 } ?? false
    guard isDue || !notes.isEmpty else { return "" }
    var text = take(notes)
    if isDue { nextDraw = mode.interval.map { time + $0 } }
    switch mode {
    case .bar, .auto:
      // First the new line, then what is left of the old one: the other way round, it would flicker.
      text += state.line(width: width, at: time, style: style) + "\u{1B}[J\r"
      isLineShown = true
    case .plain where isDue: text += state.plainLine(at: time) + "\n"
    case .json where isDue: text += state.jsonLine(at: time) + "\n"
    case .plain, .json, .none: break
    }
    return text
  }

  /// What to write at the end: nothing of the live line stays.
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
