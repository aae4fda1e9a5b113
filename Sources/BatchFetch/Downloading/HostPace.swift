/// When a host may be asked again. A plain value; times are those of the injected clock.
struct HostPace {
  /// Until when nothing new starts; nil where nothing holds it back.
  private(set) var closedUntil: Duration?
  /// Refusals in a row, not counting those of requests that were sent before the pause.
  private var refusals = 0

  /// The host answered with something else: it bears what it gets.
  mutating func accept() { refusals = 0 }

  /// The host wants fewer requests. The result is the end of the pause that begins now, or that becomes longer; nil
  /// where all stays as it is. Who does not say for how long is left alone from the second time on, and longer each
  /// time.
  mutating func refuse(retryAfter: Duration?, policy: RetryPolicy, now: Duration) -> Duration? {
    if closedUntil == nil { refusals += 1 }
    guard let pause = retryAfter ?? (closedUntil == nil ? backoff(policy) : nil) else { return nil }
    let end = now + min(pause, policy.longest)
    guard end > max(closedUntil ?? now, now) else { return nil }
    closedUntil = end
    return end
  }

  /// The pause up to `end` is over. False where a longer one has taken its place.
  mutating func open(at end: Duration) -> Bool {
    guard closedUntil == end else { return false }
    closedUntil = nil
    return true
  }

  private func backoff(_ policy: RetryPolicy) -> Duration? {
    refusals > 1 ? policy.ceiling(attempts: refusals) : nil
  }
}
