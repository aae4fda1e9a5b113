import Glibc

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
      // Writes the new line first and then clears the rest of the old one. Clearing first would flicker. The window may
      // have become narrower since its width was read: without wrapping (DECAWM), the cursor stays on the line.
      text += "\u{1B}[?7l" + state.line(width: width, at: time, style: style) + "\u{1B}[?7h\u{1B}[J\r"
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

/// The progress of a run. Times are measured from its start.
struct ProgressState: Hashable, Sendable {
  /// The number of rows that ended, including failed ones.
  private(set) var finished = 0
  /// The number of rows that failed.
  private(set) var failed = 0
  /// The number of bytes downloaded.
  private(set) var bytes = 0
  /// The number of all rows.
  var total: RowTotal
  private var rate = ProgressRate()
  private var running = RunningRows()

  /// Creates the state at the start of a run over `total` rows. Default unknown.
  init(total: RowTotal = .unknown) {
    self.total = total
  }

  /// Records that the row `index` begins to fetch `url`.
  mutating func begin(_ index: Int, url: String, at time: Duration) {
    running.begin(index, url: url, at: time)
  }

  /// Records that the row `index` ended with `status` and downloaded `bytes`.
  mutating func finish(_ index: Int, _ status: ReportLine.Status, bytes: Int) {
    running.end(index)
    finished += 1
    if status == .failed { failed += 1 }
    self.bytes += bytes
  }

  /// Adds a sample to the rate.
  mutating func tick(at time: Duration) {
    rate.note(items: finished, bytes: bytes, at: time)
  }

  /// Returns rows and bytes per second over the last ten seconds.
  func perSecond(at time: Duration) -> (items: Double, bytes: Double) {
    rate.perSecond(items: finished, bytes: bytes, at: time)
  }

  /// Returns the longest-running row, once it has run for three seconds.
  func slowest(at time: Duration) -> RunningRows.Slow? { running.slowest(at: time) }

  /// Returns the seconds until the end at the current rate; nil if they cannot be estimated.
  func secondsLeft(at time: Duration) -> Int? {
    guard let total = total.count, total > finished else { return nil }
    let seconds = Double(total - finished) / perSecond(at: time).items
    return seconds < 360_000 ? Int(seconds.rounded(.up)) : nil
  }
}

extension ProgressState {
  /// A part of the line. ASCII only, so each character takes one column.
  private struct Part {
    var text: String
    var tint: ProgressStyle.Tint?
  }

  /// Returns the live line, shorter than `width` columns: a bar if there is room, the counts, and the details that fit.
  func line(width: Int, at time: Duration, style: ProgressStyle = .plain) -> String {
    let room = width - 1
    guard room > 0 else { return "" }
    var parts = [Part(text: String(count.prefix(room)))]
    var length = parts[0].text.count
    // Details are sorted by importance, both for dropping them and on the line.
    for part in details(at: time) where length + 2 + part.text.count <= room {
      parts.append(part)
      length += 2 + part.text.count
    }
    let text = parts.map { style.text($0.text, $0.tint) }.joined(separator: "  ")
    let barWidth = min(40, room - length - 1)
    return barWidth < 12 ? text : bar(width: barWidth) + " " + text
  }

  /// Returns the line for logs: `512 of 1,000 items, 3 failed, ETA 0:12, 1.2 MiB/s`, or `512 items, ~12 %, …` if the
  /// total is an estimate.
  func plainLine(at time: Duration) -> String {
    (["\(count) items"] + details(at: time).map(\.text)).joined(separator: ", ")
  }

  /// Returns the line for programs, a JSON object: `finished` and `total` rows (before `total` is known,
  /// `estimatedTotal`, if there is an estimate), the `failed` rows among the finished, `bytes` downloaded,
  /// `milliseconds` since the start, `itemsPerSecond` over the last ten seconds, `secondsLeft` if known, and in `slow`
  /// the `host` and `seconds` of the longest-running row, once it has run for three seconds.
  func jsonLine(at time: Duration) -> String {
    var json = JSONText(capacity: 128)
    json.object { json in
      json.member("finished", finished)
      switch total {
      case .unknown: break
      case .about(let count): json.member("estimatedTotal", count)
      case .exactly(let count): json.member("total", count)
      }
      json.member("failed", failed)
      json.member("bytes", bytes)
      json.member("milliseconds", time.wholeMilliseconds)
      json.member("itemsPerSecond", Int(perSecond(at: time).items.rounded()))
      if let left = secondsLeft(at: time) { json.member("secondsLeft", left) }
      if let slow = slowest(at: time) {
        json.key("slow")
        json.object { json in
          json.member("host", slow.host)
          json.member("seconds", slow.seconds)
        }
      }
    }
    return String(decoding: json.bytes, as: UTF8.self)
  }

  private var count: String {
    guard case .exactly(let total) = total else { return finished.grouped }
    return "\(finished.grouped) of \(total.grouped)"
  }

  private func details(at time: Duration) -> [Part] {
    var parts: [Part] = []
    // An estimate may turn out too low, so it never shows the end.
    if case .about(let total) = total {
      parts.append(Part(text: "~\(min(99, Int(100 * Double(finished) / Double(max(1, total))))) %"))
    }
    if failed > 0 { parts.append(Part(text: "\(failed.grouped) failed", tint: .bad)) }
    if let left = secondsLeft(at: time) { parts.append(Part(text: "ETA \(Self.clock(left))")) }
    let speed = perSecond(at: time).bytes
    if speed >= 1 { parts.append(Part(text: "\(ByteSize(count: Int(speed)))/s")) }
    if let slow = slowest(at: time) {
      parts.append(Part(text: "\(slow.host) slow: \(Self.clock(slow.seconds))", tint: .slow))
    }
    return parts
  }

  /// Returns `[====>    ]`; `[---------]` if the total is unknown.
  private func bar(width: Int) -> String {
    let inner = width - 2
    guard let total = total.count, total > 0 else { return "[" + String(repeating: "-", count: inner) + "]" }
    let filled = min(inner, Int(Double(inner) * Double(finished) / Double(total)))
    let head = filled < inner ? ">" : ""
    let tail = String(repeating: " ", count: inner - filled - head.count)
    return "[" + String(repeating: "=", count: filled) + head + tail + "]"
  }

  /// Formats seconds as `0:12` or `1:02:03`.
  private static func clock(_ seconds: Int) -> String {
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
    return hours > 0 ? "\(hours):\(two(minutes)):\(two(seconds % 60))" : "\(minutes):\(two(seconds % 60))"
  }
}

/// The colors of the live line (SGR, ECMA-48, section 8.3.117).
enum ProgressStyle: Hashable, Sendable {
  /// No colors.
  case plain
  /// Failures in red, slow hosts in yellow.
  case colored

  /// A color by its purpose, with its SGR parameter.
  enum Tint: Int, Hashable, Sendable {
    case bad = 31
    case slow = 33
  }

  /// Chooses `plain` if `NO_COLOR` is set and not empty (https://no-color.org), or if `TERM` is missing or
  /// `dumb`; otherwise `colored`.
  init(environment: [String: String]) {
    let isRefused = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
    self = isRefused || ["", "dumb"].contains(environment["TERM"] ?? "") ? .plain : .colored
  }

  /// Returns `text` in the color of `tint`.
  func text(_ text: String, _ tint: Tint?) -> String {
    guard self == .colored, let tint else { return text }
    return "\u{1B}[\(tint.rawValue)m\(text)\u{1B}[m"
  }
}

/// The kind of progress display, which goes to standard error.
enum ProgressMode: String, CaseIterable, Hashable, Sendable {
  /// A bar on a terminal, plain lines elsewhere.
  case auto
  /// One live line.
  case bar
  /// A plain line every ten seconds.
  case plain
  /// A line with a JSON object, every second and at the end.
  case json
  /// Nothing.
  case none
}

extension ProgressMode {
  /// Resolves `auto`: `bar` on a terminal, otherwise `plain`. A terminal whose `TERM` is missing or `dumb` may not be
  /// able to clear a line and counts as none.
  func resolved(isTerminal: Bool, terminalType: String?) -> ProgressMode {
    guard self == .auto else { return self }
    return isTerminal && !["", "dumb"].contains(terminalType ?? "") ? .bar : .plain
  }

  /// The time between two updates; nil in a mode without updates.
  var interval: Duration? {
    switch self {
    case .auto, .bar: .milliseconds(100)
    case .plain: .seconds(10)
    case .json: .seconds(1)
    case .none: nil
    }
  }
}

/// A destination for progress.
struct ProgressOutput: Sendable {
  /// True if the destination is a terminal.
  var isTerminal: Bool
  /// Returns true unless the destination is a terminal that belongs to another job now. Default always true.
  var isForeground: @Sendable () -> Bool = { true }
  /// Returns the current number of columns; 80 if unknown.
  var width: @Sendable () -> Int
  /// Writes text immediately.
  var write: @Sendable (String) -> Void

  /// Standard error.
  static let standardError = ProgressOutput(descriptor: STDERR_FILENO)
}

extension ProgressOutput {
  /// Creates an output that writes to `descriptor` and ignores errors: there is nowhere to report them. It queries the
  /// window size for each update, so it needs no handler for `SIGWINCH`.
  init(descriptor: Int32) {
    isTerminal = isatty(descriptor) == 1
    isForeground = {
      // -1 if the terminal does not control this process.
      let group = tcgetpgrp(descriptor)
      return group < 0 || group == getpgrp()
    }
    width = { Self.columns(of: descriptor) }
    write = { text in _ = FileDescriptor.writeAll(Array(text.utf8)[...], to: descriptor) }
  }

  private static func columns(of descriptor: Int32) -> Int {
    var size = winsize()
    return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
  }
}
