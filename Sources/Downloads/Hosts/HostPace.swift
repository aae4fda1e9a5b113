/// The pauses that a host has requested. A plain value; times are those of the injected clock.
struct HostPace: Sendable {
  /// A response that requests fewer requests.
  struct Refusal: Equatable, Sendable {
    /// True for 429 Too Many Requests (RFC 6585, section 4), false for 503 Service Unavailable (RFC 9110, section
    /// 15.6.4), which may concern one URL only.
    var isLimit: Bool
    /// The pause that the server requests with `Retry-After`; nil without that field.
    var retryAfter: Duration?
  }

  /// The end of the current pause, before which no request starts; nil if there is no pause.
  private(set) var closedUntil: Duration?
  /// True if the current pause is too long to wait for.
  private(set) var isTooLong = false
  /// The number of refusals in a row, not counting refusals of requests sent before the pause.
  private var refusals = 0
  /// The length of all pauses since the last response that was not a refusal.
  private var waited = Duration.zero

  /// True if the host has no pause, and no refusal to remember.
  var isIdle: Bool { closedUntil == nil && refusals == 0 }

  /// Records a response that is not a refusal.
  mutating func accept() {
    refusals = 0
    waited = .zero
  }

  /// Records a refusal, which may begin a pause or make it longer. Without `Retry-After`, the pauses grow
  /// exponentially: from the first 429 on, and from the second 503 in a row on.
  mutating func refuse(_ refusal: Refusal, policy: RetryPolicy, now: Duration) {
    if closedUntil == nil { refusals += 1 }
    guard let pause = refusal.retryAfter ?? (closedUntil == nil ? backoff(refusal, policy) : nil) else { return }
    let begin = max(closedUntil ?? now, now)
    let end = now + pause.clamped(to: .waiting)
    guard end > begin else { return }
    closedUntil = end
    waited += end - begin
    isTooLong = waited > policy.maxWait
  }

  /// Ends a pause that is over.
  mutating func open(at now: Duration) {
    guard let end = closedUntil, end <= now else { return }
    closedUntil = nil
    isTooLong = false
  }

  private func backoff(_ refusal: Refusal, _ policy: RetryPolicy) -> Duration? {
    refusals > (refusal.isLimit ? 0 : 1) ? policy.ceiling(attempts: refusals) : nil
  }
}
