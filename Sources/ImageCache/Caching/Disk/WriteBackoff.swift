/// How long writes rest after one failed: 0.1, 1, then 10 seconds until one succeeds. A plain value.
struct WriteBackoff {
  private static let pauses: [Duration] = [.milliseconds(100), .seconds(1), .seconds(10)]

  private var failures = 0
  private var end: ContinuousClock.Instant?

  /// What is left of the pause at `now`; nil when a write may be tried.
  func remainder(at now: ContinuousClock.Instant) -> Duration? {
    end.flatMap { now < $0 ? now.duration(to: $0) : nil }
  }

  /// Takes note of a write that failed at `now`.
  mutating func noteFailure(at now: ContinuousClock.Instant) {
    end = now + Self.pauses[min(failures, Self.pauses.count - 1)]
    failures += 1
  }

  /// Takes note of a write that succeeded.
  mutating func noteSuccess() { self = WriteBackoff() }
}
