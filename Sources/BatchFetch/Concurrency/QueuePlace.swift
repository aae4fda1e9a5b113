internal import Foundation

/// A place in an operation queue. The holder gets its turn from the queue, and counts against the queue's limit until
/// it leaves.
///
/// `Operation` makes this class `@unchecked Sendable`; everything added here is constant.
final class QueuePlace: AsynchronousOperation, @unchecked Sendable {
  private let onTurn: @Sendable () -> Void
  private let onLeave: @Sendable () -> Void

  /// - Parameters:
  ///   - priority: the order among the places that wait.
  ///   - onLeave: called once, after the place has left its queue. Default: nothing.
  ///   - onTurn: called at most once, on the queue's thread, when the turn of this place has come.
  init(
    priority: Priority, onLeave: @escaping @Sendable () -> Void = {}, onTurn: @escaping @Sendable () -> Void
  ) {
    self.onTurn = onTurn
    self.onLeave = onLeave
    super.init()
    setPriority(priority)
  }

  override func execute() { onTurn() }

  override func didFinish() { onLeave() }

  /// Changes the order among the places that wait.
  func setPriority(_ priority: Priority) {
    let priority = Operation.QueuePriority(priority)
    if queuePriority != priority { queuePriority = priority }
  }

  /// Gives the place up: at once if it has its turn, otherwise as soon as the queue reaches it.
  func leave() {
    // The queue's thread may start this place right now. It either sees the cancel and skips the work, or has started
    // before, and then `finish()` ends it. In the other order, a place started between both calls would stay for good.
    cancel()
    finish()
  }
}

extension Operation.QueuePriority {
  /// The counterpart of `priority`.
  init(_ priority: Priority) {
    self =
      switch priority {
      case .low: .low
      case .normal: .normal
      case .high: .high
      }
  }
}
