/// Finds out that a server of a remote cache is of no use: its requests fail several times in a row. A plain value;
/// times are those of a clock that never goes back.
///
/// ```
///           failures in a row             pause is over
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
    case closed(failures: Int)
    case open(until: Duration)
    case probing
  }

  /// The number of failures in a row after which the breaker opens.
  static let maxFailures = 5
  /// The time for which it stays open.
  static let pause = Duration.seconds(30)

  private var phase = Phase.closed(failures: 0)

  /// True if requests are refused, except for probes.
  var isOpen: Bool { if case .closed = phase { false } else { true } }

  /// Returns the permission for a request at `now`; nil if it must not be sent.
  mutating func permit(at now: Duration) -> Permit? {
    switch phase {
    case .closed: return .request
    case .open(let end) where now >= end:
      phase = .probing
      return .probe
    case .open, .probing: return nil
    }
  }

  /// Records the end of a request. Those that began before the breaker opened do not count any more.
  mutating func ended(_ permit: Permit, _ verdict: Verdict, at now: Duration) {
    switch (phase, permit, verdict) {
    case (.closed, .request, .success), (.probing, .probe, .success): phase = .closed(failures: 0)
    case (.closed(let failures), .request, .failure):
      phase = failures + 1 < Self.maxFailures ? .closed(failures: failures + 1) : .open(until: now + Self.pause)
    case (.probing, .probe, .failure): phase = .open(until: now + Self.pause)
    case (.probing, .probe, .abandoned): phase = .open(until: now)
    default: break
    }
  }
}
