internal import Synchronization

/// Waits for a call that answers by a closure, and passes a task's cancellation on to it.
enum CancellableCall {
  typealias Cancel = @Sendable () -> Void

  private enum State {
    case starting, running(Cancel), cancelled
  }

  /// The answer of `start`, which is called at once and returns how its work is cancelled.
  static func result<Value: Sendable>(
    _ start: (_ completion: @escaping @Sendable (Value) -> Void) -> Cancel
  ) async -> Value {
    let state = Mutex(State.starting)
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let cancel = start { continuation.resume(returning: $0) }
        // A cancel that came while the work was being started could not reach it yet.
        let isCancelled = state.withLock { state in
          if case .cancelled = state { return true }
          state = .running(cancel)
          return false
        }
        if isCancelled { cancel() }
      }
    } onCancel: {
      let running = state.withLock { state in
        defer { state = .cancelled }
        return if case .running(let cancel) = state { cancel } else { nil as Cancel? }
      }
      running?()
    }
  }
}
