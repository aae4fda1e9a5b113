/// Turns a call with a completion handler into an `async` call, and passes on the cancellation of its task.
package final class CancellableCall: Sendable {
  private let slot = TokenSlot()

  /// Returns the value that `start` passes to its completion.
  ///
  /// - Parameter start: Called at once. Returns the handle of the work that it began.
  package static func result<Value: Sendable>(
    _ start: (_ completion: @escaping @Sendable (Value) -> Void) -> WorkHandle
  ) async -> Value {
    let call = CancellableCall()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let round = call.slot.begin()
        call.slot.fill(round, with: start { continuation.resume(returning: $0) })
      }
    } onCancel: {
      call.slot.cancel()
    }
  }
}
