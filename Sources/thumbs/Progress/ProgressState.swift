/// How far a run is. Times are counted from its start.
struct ProgressState: Hashable, Sendable {
  /// Rows that came to an end, failed ones among them.
  private(set) var finished = 0
  /// Rows that failed.
  private(set) var failed = 0
  /// Bytes that were downloaded.
  private(set) var bytes = 0
  /// All rows; nil while the manifest is still being read.
  var total: Int?
  private var rate = ProgressRate()
  private var running = RunningRows()

  /// The start of a run over `total` rows.
  init(total: Int? = nil) {
    self.total = total
  }

  /// The row `index` begins to ask for `url`.
  mutating func begin(_ index: Int, url: String, at time: Duration) {
    running.begin(index, url: url, at: time)
  }

  /// The row `index` came to an end; `bytes` were downloaded for it.
  mutating func finish(_ index: Int, _ status: ReportLine.Status, bytes: Int) {
    running.end(index)
    finished += 1
    if status == .failed { failed += 1 }
    self.bytes += bytes
  }

  /// Takes note of the time, for the rate.
  mutating func tick(at time: Duration) {
    rate.note(items: finished, bytes: bytes, at: time)
  }

  /// Rows and bytes a second, over the last ten seconds.
  func perSecond(at time: Duration) -> (items: Double, bytes: Double) {
    rate.perSecond(items: finished, bytes: bytes, at: time)
  }

  /// What the run waits for longest, after three seconds.
  func slowest(at time: Duration) -> RunningRows.Slow? { running.slowest(at: time) }

  /// Seconds until the end at the present rate; nil where that cannot be said.
  func secondsLeft(at time: Duration) -> Int? {
    guard let total, total > finished else { return nil }
    let seconds = Double(total - finished) / perSecond(at: time).items
    return seconds < 360_000 ? Int(seconds.rounded(.up)) : nil
  }
}
