/// Decides when the page of a run that has not finished is written. A plain value; times count from the start.
struct LiveSchedule: Hashable, Sendable {
  /// The time between two writes without changes, which show that the run has not stopped.
  static let heartbeat = Duration.seconds(10)

  private var lastWrite: Duration?
  /// The shortest time between two writes: a second, and a second more per MiB of the page.
  private(set) var interval = Duration.seconds(1)

  /// Returns true if the page should be written at `time`. A page that has not changed is written now and then, with
  /// the time.
  func isDue(at time: Duration, isChanged: Bool) -> Bool {
    guard let lastWrite else { return true }
    return time - lastWrite >= (isChanged ? interval : Self.heartbeat)
  }

  /// Records that a page of `byteCount` bytes was written at `time`.
  mutating func recordWrite(of byteCount: Int, at time: Duration) {
    lastWrite = time
    interval = .seconds(1) + .milliseconds((1000 * byteCount) >> 20)
  }
}
