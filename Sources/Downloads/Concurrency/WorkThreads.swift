internal import Foundation

/// The threads of a queue: how many there are at most, and how one is started. A plain value.
@usableFromInline package struct WorkThreads: Sendable {
  @usableFromInline package typealias Work = @Sendable () -> Void

  /// The maximum number of threads, at least 1.
  @usableFromInline let count: Int
  /// The time after which a thread that has finished a piece ends, and another is started for the next piece. Nil: a
  /// thread ends when no work is left.
  @usableFromInline var turn: Duration?
  /// Runs its argument, once, on a thread that may block.
  @usableFromInline let spawn: @Sendable (@escaping Work) -> Void

  /// Returns threads of the system's dispatch queues. They are shared fairly: after a millisecond, a thread lets other
  /// queues go first.
  package static func dispatched(_ label: String, count: Int) -> WorkThreads {
    let queue = DispatchQueue(label: label, attributes: .concurrent)
    return WorkThreads(count: count, turn: .milliseconds(1)) { queue.async(execute: $0) }
  }
}
