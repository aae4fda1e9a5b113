/// What is on the screen of a run's progress, and what must be written to change it. Times are counted from the start.
struct ProgressScreen: Hashable, Sendable {
  /// To the first column, and empty the line.
  private static let clear = "\r\u{1B}[K"

  private let mode: ProgressMode
  private var nextDraw: Duration?
  private var isLineShown = false

  /// An empty screen for `mode`, which is not `auto`.
  init(_ mode: ProgressMode) {
    self.mode = mode
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
      text += (isLineShown ? "\r" : "") + state.line(width: width, at: time) + "\u{1B}[K"
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
