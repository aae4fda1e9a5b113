internal import Foundation
internal import Synchronization

/// Runs short pieces of work in order on a few threads. It costs less than an operation queue: a thread that has
/// finished one piece takes the next, and no thread is woken for it. In return, work cannot be canceled.
final class WorkQueue: Sendable {
  typealias Work = @Sendable () -> Void

  private struct State {
    var waiting = FIFO<Work>()
    var threads = 0

    /// Removes and returns the next piece. If the queue is empty, returns nil and counts the thread as ended.
    mutating func pop() -> Work? {
      let work = waiting.popFirst()
      if work == nil { threads -= 1 }
      return work
    }
  }

  private let width: Int
  private let spawn: @Sendable (@escaping Work) -> Void
  private let state = Mutex(State())

  /// Creates a queue that uses at most `width` threads of the system's dispatch queues.
  convenience init(label: String, width: Int) {
    let queue = DispatchQueue(label: label, attributes: .concurrent)
    self.init(width: width) { queue.async(execute: $0) }
  }

  /// Creates a queue that uses at most `width` threads.
  ///
  /// - Parameter spawn: Runs its argument, which returns when no work is left, on a thread that may block.
  init(width: Int, spawn: @escaping @Sendable (@escaping Work) -> Void) {
    self.width = width
    self.spawn = spawn
  }

  /// Runs `work` when a thread is free.
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
