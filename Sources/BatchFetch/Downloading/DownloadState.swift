/// Where a download stands between its attempts. A plain value: every event says what is to be done next.
struct DownloadState {
  private enum Phase {
    case waiting, attempting, pausing, ended
  }

  /// What follows a failed attempt.
  enum Step: Equatable {
    /// Nothing: the download has ended meanwhile.
    case ignore
    /// The download ends with what the attempt brought.
    case conclude
    /// Another attempt, after this long.
    case pause(Duration)
  }

  private var phase = Phase.waiting
  /// Attempts begun so far.
  private(set) var attempts = 0

  /// Begins an attempt. False when the download has ended.
  mutating func beginAttempt() -> Bool {
    guard phase == .waiting || phase == .pausing else { return false }
    phase = .attempting
    attempts += 1
    return true
  }

  /// An attempt is over; `code` is why it failed, nil where it did not.
  mutating func endAttempt(
    _ code: FailureCode?, retryAfter: Duration?, policy: RetryPolicy, jitter: Double
  ) -> Step {
    guard phase == .attempting else { return .ignore }
    guard let code,
      let pause = policy.pause(after: code, attempts: attempts, retryAfter: retryAfter, jitter: jitter)
    else { return .conclude }
    phase = .pausing
    return .pause(pause)
  }

  /// Ends the download. True for the first call only: that one tells the others.
  mutating func end() -> Bool {
    guard phase != .ended else { return false }
    phase = .ended
    return true
  }
}
