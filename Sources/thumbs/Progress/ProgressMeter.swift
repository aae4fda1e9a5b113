import Synchronization

/// Shows the progress of a run.
///
/// Threads that finish rows only update counts. One timer does all the writing, so a stopped terminal blocks nothing
/// but the progress display.
final class ProgressMeter: Sendable {
  private struct Counts {
    var state = ProgressState()
    var notes: [String] = []
    /// Estimates the number of rows until it is known.
    var estimate: @Sendable () -> RowTotal = { .unknown }
  }

  private let counts = Mutex(Counts())
  private let screen: Mutex<ProgressScreen>
  private let output: ProgressOutput
  private let elapsed: @Sendable () -> Duration
  private let timer = RepeatingTimer("thumbs.progress")

  /// Creates a meter that shows nothing until ``start()``.
  ///
  /// - Parameters:
  ///   - mode: The kind of progress; `auto` depends on the output.
  ///   - output: The destination. Default standard error.
  ///   - environment: The environment of the process, for `TERM` and `NO_COLOR`.
  ///   - elapsed: Returns the time since the start of the run. Default since this call.
  init(
    _ mode: ProgressMode, output: ProgressOutput = .standardError, environment: [String: String] = [:],
    elapsed: (@Sendable () -> Duration)? = nil
  ) {
    let start = ContinuousClock.now
    self.elapsed = elapsed ?? { ContinuousClock.now - start }
    self.output = output
    let isTerminal = output.isTerminal && output.isForeground()
    let mode = mode.resolved(isTerminal: isTerminal, terminalType: environment["TERM"])
    screen = Mutex(ProgressScreen(mode, style: ProgressStyle(environment: environment)))
  }

  /// Sets the total number of rows, once it is known.
  func setTotal(_ total: Int) {
    counts.withLock { $0.state.total = .exactly(total) }
  }

  /// Sets a closure that estimates the total number of rows. It is called for each update until the number is known.
  func setEstimate(_ estimate: @escaping @Sendable () -> RowTotal) {
    counts.withLock { $0.estimate = estimate }
  }

  /// Records that the row `index` begins to fetch `url`.
  func begin(_ index: Int, url: String) {
    let time = elapsed()
    counts.withLock { $0.state.begin(index, url: url, at: time) }
  }

  /// Records that the row `index` ended with `status` and downloaded `bytes`.
  func finish(_ index: Int, _ status: ReportLine.Status, bytes: Int) {
    counts.withLock { $0.state.finish(index, status, bytes: bytes) }
  }

  /// Prints `text`, which may have several lines, above the live line at the next tick. Control characters, which may
  /// come from a manifest or a server, are replaced.
  func note(_ text: String) {
    let shown = text.printableLines
    counts.withLock { $0.notes.append(shown) }
  }

  /// Writes pending notes, and the progress if it is due. ``start()`` calls this ten times per second.
  func tick() {
    let time = elapsed()
    screen.withLock { screen in
      let (state, notes) = snapshot(at: time)
      show(screen.draw(state, notes: notes, width: output.width(), isHidden: !output.isForeground(), at: time))
    }
  }

  /// Starts the timer, which runs until ``end()``.
  func start() { timer.start(every: 100) { [weak self] in self?.tick() } }

  /// Stops the timer, writes pending notes and removes the live line. Nothing is written after that.
  func end() {
    timer.stop()
    let time = elapsed()
    screen.withLock { screen in
      let (state, notes) = snapshot(at: time)
      show(screen.end(state, notes: notes, at: time))
      screen = ProgressScreen(.none)
    }
  }

  private func snapshot(at time: Duration) -> (ProgressState, [String]) {
    counts.withLock { counts in
      counts.state.tick(at: time)
      if case .exactly = counts.state.total {} else { counts.state.total = counts.estimate() }
      defer { counts.notes = [] }
      return (counts.state, counts.notes)
    }
  }

  private func show(_ text: String) {
    if !text.isEmpty { output.write(text) }
  }
}

/// The rate of items and bytes over the last ten seconds.
struct ProgressRate: Hashable, Sendable {
  private struct Sample: Hashable {
    var time: Duration
    var items: Int
    var bytes: Int
  }

  private static let window = Duration.seconds(10)
  private static let spacing = Duration.milliseconds(500)

  /// At most one sample per `spacing`, plus one from before the window.
  private var samples = [Sample(time: .zero, items: 0, bytes: 0)]

  /// Creates a rate without items or bytes.
  init() {}

  /// Records the totals at `time`, measured from the start.
  mutating func note(items: Int, bytes: Int, at time: Duration) {
    guard let last = samples.last, time - last.time >= Self.spacing else { return }
    samples.append(Sample(time: time, items: items, bytes: bytes))
    while samples.count > 2, time - samples[1].time >= Self.window { samples.removeFirst() }
  }

  /// Returns items and bytes per second, given the totals at `time`. Zero at the very start.
  func perSecond(items: Int, bytes: Int, at time: Duration) -> (items: Double, bytes: Double) {
    guard let first = samples.first, time > first.time else { return (0, 0) }
    let seconds = (time - first.time) / .seconds(1)
    return (Double(items - first.items) / seconds, Double(bytes - first.bytes) / seconds)
  }
}

/// The rows that have begun and not ended, at most as many as the batch's window holds.
struct RunningRows: Hashable, Sendable {
  private struct Row: Hashable {
    var url: String
    var start: Duration
  }

  /// A slow row.
  struct Slow: Hashable, Sendable {
    /// The host of its URL with its port, safe to print.
    var host: String
    /// The whole seconds since it began.
    var seconds: Int
  }

  /// The time after which a row counts as slow.
  private static let patience = Duration.seconds(3)

  private var rows: [Int: Row] = [:]

  /// Creates an empty set.
  init() {}

  /// Records that the row `index` begins to fetch `url`.
  mutating func begin(_ index: Int, url: String, at time: Duration) {
    rows[index] = Row(url: url, start: time)
  }

  /// Records that the row `index` ended.
  mutating func end(_ index: Int) {
    rows[index] = nil
  }

  /// Returns the longest-running row if it is slow.
  func slowest(at time: Duration) -> Slow? {
    guard let row = rows.values.min(by: { $0.start < $1.start }), time - row.start >= Self.patience else { return nil }
    return Slow(
      host: Self.shown(SourceURLParts(row.url).server.lowercased()), seconds: Int((time - row.start) / .seconds(1)))
  }

  /// Replaces everything but printable ASCII with `?`, so that each character takes one column and none is a control
  /// character.
  private static func shown(_ host: String) -> String {
    String(host.unicodeScalars.map { (0x21...0x7E).contains($0.value) ? Character($0) : "?" })
  }
}

/// The number of all rows of a run, as far as it is known.
enum RowTotal: Hashable, Sendable {
  /// Nothing is known: the rows come from a pipe, or reading has just begun.
  case unknown
  /// An estimate, from the part of the manifests that has been read.
  case about(Int)
  /// The exact number.
  case exactly(Int)

  /// The number; nil if it is unknown.
  var count: Int? {
    switch self {
    case .unknown: nil
    case .about(let count), .exactly(let count): count
    }
  }

  /// Returns the number of rows in one of `shards` parts, which are of about the same size.
  func part(of shards: Int) -> RowTotal { shards == 1 ? self : count.map { .about($0 / shards) } ?? .unknown }
}
