/// When a failed attempt is made again: exponential backoff with full jitter.
public struct RetryPolicy: Hashable, Sendable {
  /// Attempts after the first one; below 1 none. Default 3.
  public var limit: Int
  /// The longest pause before the first retry; it doubles with each further one. From zero to ``cap``; what is outside
  /// counts as the nearest end. Default 0.5 s.
  public var base: Duration
  /// The longest pause of all, also where a server asks for a longer one. From zero to 20 days; what is outside counts as
  /// the nearest end. Default 30 s.
  public var cap: Duration

  /// A policy of up to `limit` retries.
  public init(limit: Int = 3, base: Duration = .milliseconds(500), cap: Duration = .seconds(30)) {
    self.limit = limit
    self.base = base
    self.cap = cap
  }

  /// The pause before the next attempt; nil where there shall be none.
  ///
  /// - Parameters:
  ///   - code: why the last attempt failed.
  ///   - attempts: how many were made so far, at least 1.
  ///   - retryAfter: how long the server asked to wait (RFC 9110, 10.2.3).
  ///   - jitter: a random number in 0..<1. Jitter keeps many clients from coming back at the same moment.
  public func pause(after code: FailureCode, attempts: Int, retryAfter: Duration?, jitter: Double) -> Duration? {
    guard attempts <= limit, code.isRetryable else { return nil }
    // An empty answer is hardly ever a passing fault: it is tried once more, not more often.
    if code == .emptyBody, attempts > 1 { return nil }
    if let retryAfter { return min(retryAfter, longest) }
    return ceiling(attempts: attempts) * jitter.clamped(to: 0...1)
  }

  /// The longest pause after so many attempts, at least 1.
  func ceiling(attempts: Int) -> Duration {
    min(base.clamped(to: .zero...longest) * (1 << (attempts.clamped(to: 1...21) - 1)), longest)
  }

  /// The longest pause, in its range.
  var longest: Duration { cap.clamped(to: .waiting) }
}
