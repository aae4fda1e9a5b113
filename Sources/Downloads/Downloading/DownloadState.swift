/// The life cycle of one download. A plain value: every event returns the action that follows from it.
///
/// ```
///            begin                  attempt(turn)
/// waiting ----------> queued ----------------------> attempting ----> ended
///    |               ^   ^  ^                          |  |  ^          ^
///    | begin         |   |  +-- redirect, no range ----+  |  |          |
///    v        resume |   | backedOff(turn)                |  | pause    | success or
/// paused ------------+   +----------------- backingOff <--+  v          | final failure
///    ^  pause, from queued and backingOff              stopping --------+
///    +--------------------------------------------------- |
/// ```
///
/// `cancel` leads to `ended` from every phase, and `refused` from `queued`. Events carry the number of their turn, so
/// that a late event of a turn that was given up is ignored.
struct DownloadState: Sendable {
  enum Phase: Equatable, Sendable {
    /// Has not begun.
    case waiting
    /// All callers have paused. The download keeps its bytes, but no place in any queue.
    case paused
    /// Waits for the permission of its host, for the addresses of the host, or for a transfer.
    case queued
    /// A transfer is running.
    case attempting
    /// Waits before the next attempt.
    case backingOff
    /// All callers have paused, and the running transfer is being canceled.
    case stopping
    case ended
  }

  /// One stay in a queue, or one pause between attempts.
  struct Turn: Equatable, Sendable {
    fileprivate var number = 0
  }

  /// A transfer that may start now.
  struct Attempt: Sendable {
    /// The bytes to continue; nil to download from the start.
    let partial: PartialDownload?
  }

  /// The result of an attempt.
  enum AttemptResult: Sendable {
    case complete
    /// A failure, or a response that is one. The next attempt may continue `kept`.
    case failed(FailureCode, kept: PartialDownload?)
    /// The server did not continue the bytes that were kept.
    case rangeRefused
    /// The server has redirected the request. The next transfer may continue `kept`.
    case redirected(kept: PartialDownload?)
  }

  enum Action: Equatable {
    case none
    /// Enter the queue of the host.
    case enqueue(Turn)
    /// Enter the queue of the host after a pause.
    case backOff(Duration, Turn)
    /// Cancel the running transfer, and report its end.
    case cancelTransfer
    /// Leave all queues.
    case rest
    /// Report the result of the attempt to the callers.
    case finish
    /// Drop everything. The callers have their ends already.
    case abort
    case setPriority(Priority)
  }

  private(set) var phase = Phase.waiting
  private var demand = JointDemand()
  private var turn = Turn()
  private var partial: PartialDownload?
  private var failures = 0
  /// True if the next transfer follows the redirect that ended the last one.
  private(set) var isRedirected = false
  /// The number of attempts so far: one, and one more after each failure. A transfer after a redirect, a pause or a
  /// refused range continues the attempt.
  private(set) var attempts = 0
  /// The time when the first attempt began.
  private(set) var firstAttempt: ContinuousClock.Instant?

  /// The priority that the callers want.
  var priority: Priority { demand.priority }

  /// The number of the attempt that the next transfer belongs to.
  var nextAttempt: Int { failures + 1 }

  /// Returns true while the download waits in this turn.
  func isWaiting(in turn: Turn) -> Bool { phase == .queued && turn == self.turn }

  // MARK: Events from callers

  /// The callers have joined.
  mutating func begin() -> Action {
    guard phase == .waiting else { return .none }
    return demand.isPaused ? pause() : enqueue()
  }

  /// The callers have changed their demand. An older demand that arrives late is ignored.
  mutating func change(to demand: JointDemand) -> Action {
    guard demand.revision > self.demand.revision else { return .none }
    self.demand = demand
    switch phase {
    case .waiting, .ended: return .none
    case .paused: return demand.isPaused ? .none : enqueue()
    case .queued where demand.isPaused, .backingOff where demand.isPaused: return pause()
    case .attempting where demand.isPaused:
      phase = .stopping
      return .cancelTransfer
    case .queued, .backingOff, .attempting, .stopping: return .setPriority(demand.priority)
    }
  }

  /// Nobody needs the download anymore.
  mutating func cancel() -> Action {
    guard phase != .ended else { return .none }
    phase = .ended
    return .abort
  }

  // MARK: Events from queues and transfers

  /// The download has its turn among the transfers. Returns nil if it no longer waits in this turn.
  mutating func attempt(in turn: Turn, at now: ContinuousClock.Instant = .now) -> Attempt? {
    guard isWaiting(in: turn) else { return nil }
    phase = .attempting
    attempts = nextAttempt
    isRedirected = false
    firstAttempt = firstAttempt ?? now
    return Attempt(partial: partial.take())
  }

  /// The host is not available, or forbids the request.
  mutating func refused(in turn: Turn) -> Action { isWaiting(in: turn) ? finish() : .none }

  /// The attempt has ended. A success or a final failure ends the download, even if it was just paused.
  mutating func attemptEnded(
    _ result: AttemptResult, retryAfter: Duration? = nil, policy: RetryPolicy, jitter: @autoclosure () -> Double
  ) -> Action {
    guard phase == .attempting || phase == .stopping else { return .none }
    switch result {
    case .complete: return finish()
    case .rangeRefused: return next(after: .zero)
    case .redirected(let kept):
      partial = kept
      // A download that was paused by then starts over at its own URL when it resumes.
      isRedirected = phase == .attempting
      return next(after: .zero)
    case .failed(let code, let kept):
      // A cancellation caused by our own pause is not a failure.
      let isInterrupted = phase == .stopping && code == .cancelled
      if !isInterrupted { failures += 1 }
      let pause = policy.pause(after: code, attempts: failures, retryAfter: retryAfter, jitter: jitter())
      guard isInterrupted || pause != nil else { return finish() }
      partial = kept
      return next(after: pause ?? .zero)
    }
  }

  /// The pause between two attempts is over.
  mutating func backedOff(in turn: Turn) -> Action {
    guard phase == .backingOff, turn == self.turn else { return .none }
    return enqueue()
  }

  // MARK: Transitions

  private mutating func next(after pause: Duration) -> Action {
    // A download that was resumed while it was stopping waits in its host's queue, like one that was paused for longer.
    if phase == .stopping { return demand.isPaused ? self.pause() : enqueue() }
    return pause > .zero ? .backOff(pause, advance(to: .backingOff)) : enqueue()
  }

  private mutating func enqueue() -> Action { .enqueue(advance(to: .queued)) }

  private mutating func pause() -> Action {
    phase = .paused
    isRedirected = false
    return .rest
  }

  private mutating func finish() -> Action {
    phase = .ended
    return .finish
  }

  private mutating func advance(to phase: Phase) -> Turn {
    self.phase = phase
    turn.number += 1
    return turn
  }
}
