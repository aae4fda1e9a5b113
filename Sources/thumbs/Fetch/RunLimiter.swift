import ArgumentParser
import Dispatch
import Synchronization

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

/// A limit of a whole run.
enum RunLimit: Hashable, Sendable {
  /// The maximum time since the start, of `--max-run-time`.
  case time(Duration)
  /// The maximum size of all downloads together, of `--max-run-bytes`.
  case bytes(ByteSize)

  /// The option that sets the limit, without its hyphens.
  var option: String {
    switch self {
    case .time: "max-run-time"
    case .bytes: "max-run-bytes"
    }
  }

  /// The reason why rows were canceled.
  var message: String { "The run reached its limit of \(self)." }
}

extension RunLimit: CustomStringConvertible {
  /// `60 s (--max-run-time)`, `1.5 GiB (--max-run-bytes)`.
  var description: String {
    switch self {
    case .time(let time): "\(Self.seconds(time)) s (--\(option))"
    case .bytes(let size): "\(size) (--\(option))"
    }
  }

  /// Returns the seconds without a fraction of zero: `60`, `0.5`.
  private static func seconds(_ time: Duration) -> String {
    let seconds = time / .seconds(1)
    return Int(exactly: seconds).map { "\($0)" } ?? "\(seconds)"
  }
}

/// The limits of a whole run.
struct RunLimits: Hashable, Sendable {
  /// The maximum time since the start; nil for no limit.
  var time: Duration?
  /// The maximum size of all downloads together; nil for no limit.
  var bytes: ByteSize?

  /// True if there are no limits.
  var isEmpty: Bool { time == nil && bytes == nil }

  /// Returns the limit that is reached after `elapsed` and `downloaded` bytes; nil if neither is reached.
  func reached(after elapsed: Duration, downloaded: Int) -> RunLimit? {
    if let time, elapsed >= time { return .time(time) }
    if let bytes, downloaded >= bytes.count { return .bytes(bytes) }
    return nil
  }
}

extension RunLimits {
  /// Runs `body`, which opens the inputs of a run that started at `start`, and may wait for another process that writes
  /// them.
  ///
  /// Ends the process with status 75 if the run reaches its time limit before `body` returns: a read that waits cannot
  /// be canceled, and the run has not opened any output yet.
  func opening<Value, Failure: Error>(
    since start: ContinuousClock.Instant, _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    guard let time else { return try body() }
    let end = OpeningEnd(limit: .time(time))
    let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "thumbs.limits"))
    let rest = max(.zero, time - start.duration(to: .now))
    timer.schedule(deadline: .now() + .milliseconds(rest.wholeMilliseconds))
    timer.setEventHandler { end.reachLimit() }
    timer.activate()
    defer {
      timer.cancel()
      end.open()
    }
    return try body()
  }
}

/// The end of opening the inputs. Either the inputs are open, or the process ends.
private final class OpeningEnd: Sendable {
  private let isOver = Mutex(false)
  private let limit: RunLimit

  init(limit: RunLimit) { self.limit = limit }

  func open() { isOver.withLock { $0 = true } }

  /// Ends the process, unless the inputs are open. Under the lock, so that the run does not go on to its outputs.
  func reachLimit() {
    isOver.withLock { isOver in
      if !isOver { StandardStreams.end(ExitCode.temporaryFailure.printing("\(limit.message) No row was read.")) }
    }
  }
}
