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
