/// The pace at which a host accepts requests. A plain value; times are those of the injected clock.
struct HostPace {
  /// The end of the current pause, before which no request starts; nil if there is no pause.
  private(set) var closedUntil: Duration?
  /// The number of refusals in a row, not counting refusals of requests sent before the pause.
  private var refusals = 0

  /// Records a response that is not a refusal, and resets the count of refusals.
  mutating func accept() { refusals = 0 }

  /// Records a refusal. Returns the end of the pause if one begins now or becomes longer; otherwise nil. Without
  /// `Retry-After`, a host is paused from the second consecutive refusal on, longer each time.
  mutating func refuse(retryAfter: Duration?, policy: RetryPolicy, now: Duration) -> Duration? {
    if closedUntil == nil { refusals += 1 }
    guard let pause = retryAfter ?? (closedUntil == nil ? backoff(policy) : nil) else { return nil }
    let end = now + min(pause, policy.longest)
    guard end > max(closedUntil ?? now, now) else { return nil }
    closedUntil = end
    return end
  }

  /// Ends the pause that lasts until `end`. Returns false if a longer one has replaced it.
  mutating func open(at end: Duration) -> Bool {
    guard closedUntil == end else { return false }
    closedUntil = nil
    return true
  }

  private func backoff(_ policy: RetryPolicy) -> Duration? {
    refusals > 1 ? policy.ceiling(attempts: refusals) : nil
  }
}
