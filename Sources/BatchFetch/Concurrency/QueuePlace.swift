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
  ///   - onTurn: called at most once, on the queue's thread, when this place gets its turn.
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

  /// Gives up the place: at once if it has its turn, otherwise as soon as the queue reaches it.
  func leave() {
    finish()
    if isFinished { return }
    // The place had not started. If the queue's thread starts it now, either that thread sees the cancellation and
    // skips the work, or it checked before the cancellation, and the second `finish()` ends the place. Without that
    // call, the place would stay in the queue for good.
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
