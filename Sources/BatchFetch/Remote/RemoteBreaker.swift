/// Finds out that a server of a remote cache is of no use: too many of its latest requests failed, or lookups have cost
/// the run too much time. A plain value; times are those of a clock that never goes back.
///
/// ```
///       failures or lost time             pause is over
///   closed ------------------->  open  <-----------------> probing
///     ^                                    probe failed       |
///     +------------------- probe succeeded -------------------+
/// ```
struct RemoteBreaker: Sendable {
  /// The permission for one request.
  enum Permit: Sendable {
    case request
    /// The only request while the breaker is open.
    case probe
  }

  /// The result of one request.
  enum Verdict: Sendable {
    case success, failure
    /// The request was canceled.
    case abandoned
  }

  private enum Phase {
    case closed
    case open(until: Duration)
    case probing
  }

  /// The number of failures among the latest requests with which the breaker opens, and the number of these requests.
  static let (maxFailures, window) = (5, 20)
  /// The time for which it stays open: the first time, and at most. Each opening doubles it; a failed probe repeats it.
  static let (firstPause, longestPause) = (Duration.seconds(30), Duration.seconds(480))
  /// The time that a lookup may take before it costs more than it is worth. A hit saves a download.
  static let (worthOfHit, worthOfMiss) = (Duration.milliseconds(100), Duration.milliseconds(10))

  /// The time that lookups have cost the run, beyond what they were worth, since the breaker was last closed.
  private(set) var lost = Duration.zero
  private let budget: Duration
  private var phase = Phase.closed
  /// The results of the latest requests, one bit each, which is set for a failure.
  private var failures: UInt32 = 0
  private var pause = Self.firstPause / 2

  /// - Parameter budget: The maximum time that lookups may cost.
  init(budget: Duration) { self.budget = budget }

  /// True if requests are refused, except for probes.
  var isOpen: Bool { if case .closed = phase { false } else { true } }

  /// Returns true if no request must be sent at `now`.
  func refuses(at now: Duration) -> Bool {
    switch phase {
    case .closed: false
    case .open(let end): now < end
    case .probing: true
    }
  }

  /// Returns the permission for a request at `now`; nil if it must not be sent.
  mutating func permit(at now: Duration) -> Permit? {
    guard !refuses(at: now) else { return nil }
    guard isOpen else { return .request }
    phase = .probing
    return .probe
  }

  /// Records the end of a request. Those that began before the breaker opened do not count anymore.
  mutating func ended(_ permit: Permit, _ verdict: Verdict, at now: Duration) {
    switch (phase, permit, verdict) {
    case (.closed, .request, .success), (.closed, .request, .failure):
      failures = (failures << 1 | (verdict == .failure ? 1 : 0)) & (1 << UInt32(Self.window) - 1)
      if failures.nonzeroBitCount >= Self.maxFailures { open(at: now) }
    case (.probing, .probe, .success): (phase, failures, lost) = (.closed, 0, .zero)
    case (.probing, .probe, .failure): phase = .open(until: now + pause)
    case (.probing, .probe, .abandoned): phase = .open(until: now)
    default: break
    }
  }

  /// Records the end of a lookup. Its cost to the run is its duration divided by the number of images in flight, since
  /// the others continued.
  ///
  /// - Parameters:
  ///   - duration: The duration of the lookup, including its wait for other ones.
  ///   - isHit: True if it found the image.
  ///   - images: The number of images in flight.
  mutating func looked(for duration: Duration, isHit: Bool, among images: Int, at now: Duration) {
    let cost = (duration - (isHit ? Self.worthOfHit : Self.worthOfMiss)) / max(1, images)
    lost = max(.zero, lost + cost)
    if case .closed = phase, lost > budget { open(at: now) }
  }

  /// Returns the part of `limit`, the time for the last uploads of a run, that is left: none if the server is skipped,
  /// because it would only cost more.
  func uploadTime(within limit: Duration) -> Duration { isOpen ? .zero : max(.zero, limit - lost) }

  private mutating func open(at now: Duration) {
    pause = min(pause * 2, Self.longestPause)
    phase = .open(until: now + pause)
  }
}
