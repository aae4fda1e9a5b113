internal import Foundation
internal import Synchronization

/// Runs pieces of work on a few threads: the highest priority first, and within a priority the oldest piece. Work that
/// waits can change its priority and can be canceled.
///
/// It costs less than an operation queue: a thread that has finished one piece takes the next, and no thread is woken
/// for it. Also, work that is canceled leaves the queue at once, whereas an operation stays until its turn comes.
final class WorkQueue: Sendable {
  typealias Work = @Sendable () -> Void

  private struct Piece: Sendable {
    let work: Work
    let onCancel: Work
  }

  private struct State {
    var waiting = PriorityLine<Piece>()
    var threads = 0

    /// Removes and returns the next piece. If the queue is empty, returns nil and counts the thread as ended.
    mutating func pop() -> Piece? {
      let piece = waiting.popFirst()
      if piece == nil { threads -= 1 }
      return piece
    }
  }

  private let width: Int
  private let turn: Duration?
  private let spawn: @Sendable (@escaping Work) -> Void
  private let state = Mutex(State())

  /// Creates a queue that uses at most `width` threads of the system's dispatch queues. It shares them fairly: after a
  /// millisecond, a thread lets other queues go first.
  convenience init(label: String, width: Int) {
    let queue = DispatchQueue(label: label, attributes: .concurrent)
    self.init(width: width, turn: .milliseconds(1)) { queue.async(execute: $0) }
  }

  /// Creates a queue that uses at most `width` threads.
  ///
  /// - Parameters:
  ///   - width: at least 1.
  ///   - turn: the time after which a thread that has finished a piece ends, and `spawn` is called again for the next
  ///     one. Default nil: a thread ends when no work is left.
  ///   - spawn: runs its argument, once, on a thread that may block.
  init(width: Int, turn: Duration? = nil, spawn: @escaping @Sendable (@escaping Work) -> Void) {
    self.width = width
    self.turn = turn
    self.spawn = spawn
  }

  /// The number of pieces that wait for a thread.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Runs `work` when a thread is free. Returns a handle that can cancel the work and change its priority until then.
  ///
  /// - Parameters:
  ///   - priority: the order among the pieces that wait. Default ``Priority/normal``.
  ///   - onCancel: called instead of `work`, on the thread that cancels it. Default: nothing.
  ///   - work: called once, unless it is canceled while it waits.
  @discardableResult
  func async(
    _ priority: Priority = .normal, onCancel: @escaping Work = {}, _ work: @escaping Work
  ) -> WorkHandle {
    let (ticket, needsThread) = state.withLock { state in
      let ticket = state.waiting.append(Piece(work: work, onCancel: onCancel), priority)
      guard state.threads < width else { return (ticket, false) }
      state.threads += 1
      return (ticket, true)
    }
    if needsThread { spawn { [self] in drain() } }
    return WorkHandle { [self] in
      state.withLock { $0.waiting.remove(ticket) }?.onCancel()
    } setPriority: { [self] priority in
      state.withLock { $0.waiting.change(ticket, to: priority) }
    }
  }

  private func drain() {
    let begin = turn.map { _ in ContinuousClock.now }
    while let piece = state.withLock({ $0.pop() }) {
      piece.work()
      if let begin, let turn, begin.duration(to: .now) >= turn { return spawn { [self] in drain() } }
    }
  }
}
