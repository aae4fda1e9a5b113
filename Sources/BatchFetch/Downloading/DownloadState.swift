/// Where a download stands between its attempts, and what it has so far. A plain value: every event says what is to be
/// done next. A paused download is such a value, and nothing else: the next operation goes on from it.
struct DownloadState: Sendable {
  private enum Phase {
    case waiting, attempting, stopping, ended
  }

  /// An attempt to be made.
  struct Attempt {
    /// Its number, from 1.
    let number: Int
    /// What is there already, to be continued.
    let partial: PartialDownload?
  }

  /// How an attempt ended.
  enum Ending {
    /// With what was hoped for.
    case good
    /// With a failure, or an answer that is one; `kept` is what the next attempt may go on from.
    case failed(FailureCode, kept: PartialDownload?)
    /// With a server that did not continue what was there.
    case rangeRefused
  }

  /// What follows an attempt.
  enum Step: Equatable {
    /// Nothing: the download has ended meanwhile.
    case ignore
    /// The download ends with what the attempt brought.
    case conclude
    /// Another attempt, after this long.
    case retry(after: Duration)
    /// Nothing for now: the download is paused.
    case rest
  }

  /// What a wish to pause asks for.
  enum Stop: Equatable {
    /// Nothing: it has ended, or stops already.
    case ignore
    /// The running attempt has to be cancelled, and to end.
    case cancelAttempt
    /// Nothing is on its way: the download is paused.
    case rest
  }

  private var phase = Phase.waiting
  private var partial: PartialDownload?
  private var failures = 0
  /// Attempts begun so far.
  private(set) var attempts = 0
  /// When the first one began.
  private(set) var firstAttempt: ContinuousClock.Instant?

  /// Begins an attempt, which takes with it what is there. Nil when the download has ended, or one is running.
  mutating func beginAttempt(at now: ContinuousClock.Instant = .now) -> Attempt? {
    guard phase == .waiting else { return nil }
    phase = .attempting
    attempts += 1
    firstAttempt = firstAttempt ?? now
    return Attempt(number: attempts, partial: partial.take())
  }

  /// An attempt is over. A pause leaves alone what has come to a real end; everything else it lets rest.
  mutating func endAttempt(
    _ ending: Ending, retryAfter: Duration?, policy: RetryPolicy, jitter: @autoclosure () -> Double
  ) -> Step {
    let isStopping = phase == .stopping
    guard isStopping || phase == .attempting else { return .ignore }
    switch ending {
    case .good: return .conclude
    case .rangeRefused:
      phase = isStopping ? .ended : .waiting
      return isStopping ? .rest : .retry(after: .zero)
    case .failed(let code, let kept):
      // The end that the pause brought about is none.
      let isInterrupted = isStopping && code == .cancelled
      if !isInterrupted { failures += 1 }
      let pause = policy.pause(after: code, attempts: failures, retryAfter: retryAfter, jitter: jitter())
      guard isInterrupted || pause != nil else { return .conclude }
      partial = kept
      phase = isStopping ? .ended : .waiting
      return isStopping ? .rest : .retry(after: pause ?? .zero)
    }
  }

  /// The download shall rest.
  mutating func stop() -> Stop {
    switch phase {
    case .waiting:
      phase = .ended
      return .rest
    case .attempting:
      phase = .stopping
      return .cancelAttempt
    case .stopping, .ended: return .ignore
    }
  }

  /// Ends the download. True for the first call only: that one tells the others.
  mutating func end() -> Bool {
    guard phase != .ended else { return false }
    phase = .ended
    return true
  }

  /// The same download after a rest: what came before counts on.
  func resumed() -> DownloadState {
    var state = self
    state.phase = .waiting
    return state
  }
}
