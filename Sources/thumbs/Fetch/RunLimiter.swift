/// Decides when a run stops because of its limits. A plain value: it is informed of the time and the counts, and
/// returns what to do.
///
/// After a limit is reached, nothing is requested anymore, but rows are still read, so that the report has all of them.
/// Reading from a pipe stops when it has been silent for ``patience``, and at the latest after ``readingTime``, since
/// its writer may never end. Reading from a file stops when it has given no row for ``readingTime``.
struct RunLimiter: Hashable, Sendable {
  /// The effect on the run.
  enum Step: Hashable, Sendable {
    /// Nothing changes.
    case proceed
    /// Everything in flight is canceled. Rows that are read later end at once.
    case cancelRequests
    /// Reading stops, too.
    case stopReading
  }

  /// The time that a pipe may be silent after a limit is reached.
  static let patience = Duration.seconds(1)
  /// The time for which a pipe is read after a limit is reached, and for which a file may give no row.
  static let readingTime = Duration.seconds(5)

  /// The limit that was reached first; nil if none was.
  private(set) var reached: RunLimit?
  private let limits: RunLimits
  private let mayBlock: Bool
  private var isDisarmed = false
  /// The time at which the limit was noticed.
  private var reachedAt = Duration.zero
  /// The number of rows read, and the time at which it last changed.
  private var rows = 0
  private var readAt = Duration.zero

  /// Creates the limiter of a run. `mayBlock` is true if its rows come from a pipe.
  init(_ limits: RunLimits, mayBlock: Bool) {
    self.limits = limits
    self.mayBlock = mayBlock
  }

  /// Ignores the limits from now on, because the run is ending for another reason.
  mutating func disarm() { isDisarmed = true }

  /// Compares the time since the start and the downloaded bytes with the limits. Called when a row has ended. Returns
  /// true if a limit is reached for the first time.
  mutating func check(after elapsed: Duration, downloaded: Int) -> Bool {
    guard reached == nil, !isDisarmed, let limit = limits.reached(after: elapsed, downloaded: downloaded) else {
      return false
    }
    reached = limit
    (reachedAt, readAt) = (elapsed, elapsed)
    return true
  }

  /// Returns what to do at the time `elapsed` since the start, when `rows` rows have been read. Called at regular
  /// times.
  ///
  /// The downloaded bytes do not matter here: they include images that are being rendered, whose rows may end first.
  mutating func step(after elapsed: Duration, rows: Int) -> Step {
    _ = check(after: elapsed, downloaded: 0)
    guard reached != nil else { return .proceed }
    if rows != self.rows { (self.rows, readAt) = (rows, elapsed) }
    let (silence, reading) = (elapsed - readAt, elapsed - reachedAt)
    let isOver = mayBlock ? silence >= Self.patience || reading >= Self.readingTime : silence >= Self.readingTime
    return isOver ? .stopReading : .cancelRequests
  }
}
