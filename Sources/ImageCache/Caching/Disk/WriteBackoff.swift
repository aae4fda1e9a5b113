/// The pauses after failed writes: 0.1 s, 1 s, then 10 s until a write succeeds. A plain value.
struct WriteBackoff {
  private static let pauses: [Duration] = [.milliseconds(100), .seconds(1), .seconds(10)]

  private var failures = 0
  private var end: ContinuousClock.Instant?

  /// Returns the rest of the pause at `now`; nil if a write may be tried.
  func remainder(at now: ContinuousClock.Instant) -> Duration? {
    end.flatMap { now < $0 ? now.duration(to: $0) : nil }
  }

  /// Records a failed write at `now`.
  mutating func noteFailure(at now: ContinuousClock.Instant) {
    end = now + Self.pauses[min(failures, Self.pauses.count - 1)]
    failures += 1
  }

  /// Records a successful write.
  mutating func noteSuccess() { self = WriteBackoff() }
}
