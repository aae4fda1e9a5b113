internal import Synchronization

/// One caller's hold on loads that follow one another: what the caller wants reaches the one that runs, and those that
/// come later. It keeps no load that has ended, nor what that captured.
final class LoadRelay: Sendable {
  typealias Round = LateToken<FetchToken>.Round

  private struct State {
    var load = LateToken<FetchToken>()
    var priority: ThumbnailRequest.Priority
  }

  private let state: Mutex<State>

  init(priority: ThumbnailRequest.Priority) {
    state = Mutex(State(priority: priority))
  }

  /// The caller's hold.
  var token: FetchToken { FetchToken(cancel: { self.cancel() }, setPriority: { self.setPriority($0) }) }

  var isCancelled: Bool { state.withLock { $0.load.isCancelled } }

  /// Begins the next load, with the priority that is wanted now. The load reports its end by ``end(_:)``.
  func begin(_ load: (ThumbnailRequest.Priority, Round) -> FetchToken) {
    let (round, urgency) = state.withLock { state in (state.load.begin(), state.priority) }
    let token = load(urgency, round)
    let (isCancelled, priority) = state.withLock { state in (state.load.arrive(token, of: round), state.priority) }
    // A cancel, or another priority, that came before the token was known has reached nothing yet.
    if isCancelled { token.cancel() }
    if priority != urgency { token.setPriority(priority) }
  }

  /// A load has told its outcome.
  func end(_ round: Round) {
    // Bound to a name, so that the token's last reference outlives the lock.
    let ended = state.withLock { $0.load.end(round) }
    _ = ended
  }

  func cancel() { state.withLock { $0.load.cancel() }?.cancel() }

  func setPriority(_ priority: ThumbnailRequest.Priority) {
    let token = state.withLock { state in
      state.priority = priority
      return state.load.current
    }
    token?.setPriority(priority)
  }
}
