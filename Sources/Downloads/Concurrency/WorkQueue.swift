internal import Foundation

/// Runs pieces of work on a few threads: the highest priority first, and within a priority the oldest piece. Work that
/// waits can change its priority and can be canceled.
///
/// It costs less than an operation queue: a thread that has finished one piece takes the next, and no thread is woken
/// for it. Also, work that is canceled leaves the queue at once, whereas an operation stays until its turn comes.
package final class WorkQueue: Sendable {
  package typealias Work = WorkThreads.Work

  private let pieces: GroupQueue<Work>

  package init(_ threads: WorkThreads) {
    pieces = GroupQueue(threads) { pieces in for piece in pieces { piece() } }
  }

  /// Creates a queue that uses at most `width` threads of the system's dispatch queues.
  package convenience init(label: String, width: Int) { self.init(.dispatched(label, count: width)) }

  /// The number of pieces that wait for a thread.
  package var waitingCount: Int { pieces.waitingCount }

  /// Runs `work` when a thread is free. Returns a handle that can cancel the work and change its priority until then.
  ///
  /// - Parameters:
  ///   - priority: The order among the pieces that wait. Default: ``Priority/normal``.
  ///   - onCancel: Called instead of `work`, on the thread that cancels it. Default: nothing.
  ///   - work: Called once, unless it is canceled while it waits.
  @discardableResult
  package func async(
    _ priority: Priority = .normal, onCancel: @escaping Work = {}, _ work: @escaping Work
  ) -> WorkHandle {
    pieces.append(work, priority, onCancel: onCancel)
  }
}
