internal import Downloads
internal import Synchronization

/// Runs pieces of rendering on a few threads, in the order of a ``RenderSchedule``. A piece that waits can change its
/// priority and can be canceled.
final class RenderQueue: Sendable {
  typealias Work = WorkThreads.Work

  /// The time after which a piece is slow: few images take longer, and those of other hosts wait no longer than that.
  static let patience = Duration.milliseconds(20)

  private struct Piece: Sendable {
    let work: Work
    let onCancel: Work
  }

  private struct State {
    var schedule: RenderSchedule<Piece>
    /// The time of the wake-up that was requested last; nil once it has come.
    var wakeUp: Duration?
  }

  private typealias Start = (ticket: RenderSchedule<Piece>.Ticket, element: Piece)

  private let threads: WorkThreads
  private let state: Mutex<State>
  private let now: @Sendable () -> Duration
  private let after: @Sendable (Duration, @escaping Work) -> Void

  /// - Parameters:
  ///   - width: the number of pieces at a time; twice as many while some are slow.
  ///   - threads: the threads.
  ///   - now: returns the time.
  ///   - after: calls its second argument after a pause.
  init(
    width: Int, _ threads: WorkThreads, now: @escaping @Sendable () -> Duration,
    after: @escaping @Sendable (Duration, @escaping Work) -> Void
  ) {
    (self.threads, self.now, self.after) = (threads, now, after)
    state = Mutex(State(schedule: RenderSchedule(width: width, patience: Self.patience)))
  }

  /// The number of pieces that wait for a thread.
  var waitingCount: Int { state.withLock { $0.schedule.waitingCount } }

  /// Runs `work` when its turn comes. Returns a handle that can cancel the work and change its priority until then.
  ///
  /// - Parameters:
  ///   - priority: The order among the pieces that wait. Default: normal.
  ///   - host: The host of the image; nil for none.
  ///   - onCancel: Called instead of `work`, on the thread that cancels it. Default: nothing.
  ///   - work: Called once, unless it is canceled while it waits. It may block.
  @discardableResult
  func async(
    _ priority: Priority = .normal, of host: String? = nil, onCancel: @escaping Work = {}, _ work: @escaping Work
  ) -> WorkHandle {
    let ticket = begin { $0.add(Piece(work: work, onCancel: onCancel), of: host, priority) }
    return WorkHandle { [self] in
      state.withLock { $0.schedule.remove(ticket) }?.onCancel()
    } setPriority: { [self] priority in
      state.withLock { $0.schedule.change(ticket, to: priority) }
    }
  }

  /// Returns the result of a change, after which the pieces that may begin do so.
  private func begin<Result: Sendable>(_ change: (inout RenderSchedule<Piece>) -> Result) -> Result {
    let (result, starts, pause) = advance(change)
    for start in starts { threads.spawn { [self] in run(start) } }
    wakeUp(after: pause)
    return result
  }

  /// Runs a piece, and then those that may begin when it has ended: one on this thread, the others on further ones.
  private func run(_ start: Start) {
    var next = Optional(start)
    while let (ticket, piece) = next.take() {
      piece.work()
      let (_, starts, pause) = advance { [now = now()] in $0.end(ticket, now: now) }
      for start in starts.dropFirst() { threads.spawn { [self] in run(start) } }
      wakeUp(after: pause)
      next = starts.first
    }
  }

  /// Returns the result of a change, the pieces that begin now, and the pause after which others may.
  private func advance<Result: Sendable>(
    _ change: (inout RenderSchedule<Piece>) -> Result
  ) -> (result: Result, starts: [Start], pause: Duration?) {
    let now = now()
    return state.withLock { state in
      let result = change(&state.schedule)
      var starts: [Start] = []
      while let start = state.schedule.next(now: now) { starts.append(start) }
      guard let time = state.schedule.nextChange(after: now), state.wakeUp.map({ time < $0 }) ?? true else {
        return (result, starts, nil)
      }
      state.wakeUp = time
      return (result, starts, time - now)
    }
  }

  private func wakeUp(after pause: Duration?) {
    guard let pause else { return }
    after(pause) { [weak self] in
      guard let self else { return }
      state.withLock { $0.wakeUp = nil }
      begin { _ in }
    }
  }
}
