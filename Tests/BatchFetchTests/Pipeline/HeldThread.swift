import Foundation
import Synchronization

@testable import BatchFetch
@testable import Downloads

/// The only thread of a queue. While it is held, the elements of the queue wait.
final class HeldThread: Sendable {
  private struct State {
    var isHeld: Bool
    var waiting: [WorkThreads.Work] = []
  }

  private let state: Mutex<State>

  init(isHeld: Bool = true) { state = Mutex(State(isHeld: isHeld)) }

  var threads: WorkThreads {
    WorkThreads(count: 1) { [self] work in
      let mayRun = state.withLock { state in
        if state.isHeld { state.waiting.append(work) }
        return !state.isHeld
      }
      if mayRun { Thread(block: work).start() }
    }
  }

  /// Holds the thread from its next start on.
  func hold() { state.withLock { $0.isHeld = true } }

  func release() {
    let waiting = state.withLock { state in
      state.isHeld = false
      defer { state.waiting = [] }
      return state.waiting
    }
    for work in waiting { Thread(block: work).start() }
  }
}
