import Foundation
import Synchronization
import TestSupport

@testable import BatchFetch
@testable import Downloads

/// The only thread of a queue. While it is held, the elements of the queue wait.
final class HeldThread: Sendable {
  private struct State {
    var isHeld: Bool
    var running = 0
    var waiting: [WorkThreads.Work] = []
  }

  private let state: Mutex<State>

  init(isHeld: Bool = true) { state = Mutex(State(isHeld: isHeld)) }

  var threads: WorkThreads {
    WorkThreads(count: 1) { [self] work in
      let mayRun = state.withLock { state in
        if state.isHeld { state.waiting.append(work) } else { state.running += 1 }
        return !state.isHeld
      }
      if mayRun { start(work) }
    }
  }

  /// Holds the thread from its next start on. Returns when the one that runs has ended: it would take new work, too.
  func hold() async {
    state.withLock { $0.isHeld = true }
    await eventually { self.state.withLock { $0.running == 0 } }
  }

  private func start(_ work: @escaping WorkThreads.Work) {
    Thread { [self] in
      work()
      state.withLock { $0.running -= 1 }
    }.start()
  }

  func release() {
    let waiting = state.withLock { state in
      state.isHeld = false
      state.running += state.waiting.count
      defer { state.waiting = [] }
      return state.waiting
    }
    for work in waiting { start(work) }
  }
}
