internal import Foundation
internal import Synchronization

/// Runs short work in order on a few threads. Unlike an operation, a piece of it has no state and cannot be taken back.
/// It costs less: a thread that is done goes on with what waits, and none is woken for it.
final class WorkQueue: Sendable {
  typealias Work = @Sendable () -> Void

  private struct State {
    var waiting = FIFO<Work>()
    var threads = 0

    /// The next in order; nil gives up a thread.
    mutating func pop() -> Work? {
      let work = waiting.popFirst()
      if work == nil { threads -= 1 }
      return work
    }
  }

  private let width: Int
  private let spawn: @Sendable (@escaping Work) -> Void
  private let state = Mutex(State())

  /// A queue that uses at most `width` threads at once, those of the system's dispatch queues.
  convenience init(label: String, width: Int) {
    let queue = DispatchQueue(label: label, attributes: .concurrent)
    self.init(width: width) { queue.async(execute: $0) }
  }

  /// A queue that uses at most `width` threads at once.
  ///
  /// - Parameter spawn: runs its argument, which ends when nothing is left to do, on a thread that may be blocked.
  init(width: Int, spawn: @escaping @Sendable (@escaping Work) -> Void) {
    self.width = width
    self.spawn = spawn
  }

  /// Begins `work` when a thread is free.
  func async(_ work: @escaping Work) {
    let needsThread = state.withLock { state in
      state.waiting.append(work)
      guard state.threads < width else { return false }
      state.threads += 1
      return true
    }
    if needsThread { spawn { [self] in drain() } }
  }

  private func drain() {
    while let work = state.withLock({ $0.pop() }) { work() }
  }
}
