/// Finds out that a host is dead: it refuses connections, does not respond to them, or its name lookup fails
/// temporarily. A name that does not exist does not count: it fails for good. A plain value; times are those of the
/// injected clock.
///
/// ```
///           failures in a row              pause is over            probe failed
///   closed ------------------> suspected ----------------> probing --------------> dead
///     ^                          |                           |  ^                    |
///     +--- any contact ----------+---------------------------+  +--- pause is over --+
/// ```
///
/// While the host is suspected, its downloads wait. While it is dead, they fail at once. The pause before each probe is
/// twice as long as the one before.
struct HostBreaker: Sendable {
  enum Phase: Equatable, Sendable {
    case closed
    /// Waits before one request is let through.
    case suspected(until: Duration)
    /// One request finds out whether the host is back. The flag tells if the host was dead before.
    case probing(wasDead: Bool)
    case dead(until: Duration)
  }

  /// The pause before the first probe.
  static let firstPause = Duration.seconds(1)
  private static let firstDeath = Duration.seconds(15)
  private static let longestPause = Duration.seconds(240)

  private(set) var phase = Phase.closed
  private let maxFailures: Int?
  private var failures = 0
  private var probes = 0

  /// - Parameter maxFailures: The number of failures in a row after which the host is suspected; nil for never.
  init(maxFailures: Int?) { self.maxFailures = maxFailures.map { max(1, $0) } }

  /// True if no failure is recorded.
  var isIdle: Bool { phase == .closed && failures == 0 }

  /// The maximum number of requests at a time; nil for no limit by the breaker.
  var limit: Int? {
    switch phase {
    case .closed: nil
    case .probing: 1
    case .suspected, .dead: 0
    }
  }

  /// True while downloads fail at once.
  var isDead: Bool { if case .dead = phase { true } else { false } }

  /// The time at which a probe may start; nil if nothing is to be waited for.
  var pauseEnd: Duration? {
    switch phase {
    case .suspected(let end), .dead(let end): end
    case .closed, .probing: nil
    }
  }

  /// Records that the host was reached.
  mutating func reached() {
    failures = 0
    probes = 0
    phase = .closed
  }

  /// Records a failure to reach the host, by the probe or by another request. Failures of requests that began before
  /// the host was suspected do not count.
  mutating func failed(isProbe: Bool, now: Duration) {
    failures += 1
    switch phase {
    case .closed:
      if let maxFailures, failures >= maxFailures { phase = .suspected(until: now + Self.firstPause) }
    case .probing where isProbe:
      phase = .dead(until: now + min(Self.firstDeath * (1 << min(probes, 10)), Self.longestPause))
      probes += 1
    case .probing, .suspected, .dead: break
    }
  }

  /// Records that the probe ended without a result, because it was canceled.
  mutating func probeAbandoned(now: Duration) {
    guard case .probing(let wasDead) = phase else { return }
    phase = wasDead ? .dead(until: now) : .suspected(until: now)
  }

  /// Lets a probe through if the pause is over.
  mutating func advance(to now: Duration) {
    guard let end = pauseEnd, end <= now else { return }
    phase = .probing(wasDead: isDead)
  }
}
