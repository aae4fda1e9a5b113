internal import Synchronization

/// One caller's hold on loads that follow one another: what the caller wants reaches the one that runs, and those that
/// come later.
final class LoadRelay: Sendable {
  private struct State {
    var token: FetchToken?
    var round = 0
    var priority: ThumbnailRequest.Priority
    var isCancelled = false
  }

  private let state: Mutex<State>

  init(priority: ThumbnailRequest.Priority) {
    state = Mutex(State(priority: priority))
  }

  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Begins the next load, with the priority that is wanted now.
  func begin(_ load: (ThumbnailRequest.Priority) -> FetchToken) {
    let (round, urgency) = state.withLock { state in
      state.round += 1
      return (state.round, state.priority)
    }
    let token = load(urgency)
    let (isCancelled, priority) = state.withLock { state in
      // The outcome may have been quicker than this, and the next load may have its token here.
      if state.round == round { state.token = token }
      return (state.isCancelled, state.priority)
    }
    // A cancel, or another priority, that came before the token was known has reached nothing yet.
    if isCancelled { token.cancel() }
    if priority != urgency { token.setPriority(priority) }
  }

  func cancel() {
    let token = state.withLock { state in
      state.isCancelled = true
      return state.token
    }
    token?.cancel()
  }

  func setPriority(_ priority: ThumbnailRequest.Priority) {
    let token = state.withLock { state in
      state.priority = priority
      return state.token
    }
    token?.setPriority(priority)
  }
}
