package import Foundation
internal import TestSupport

extension Operation {
  /// The names of the flags that are true.
  package var flags: Set<String> {
    var flags: Set<String> = []
    if isReady { flags.insert("ready") }
    if isExecuting { flags.insert("executing") }
    if isFinished { flags.insert("finished") }
    if isCancelled { flags.insert("cancelled") }
    return flags
  }

  /// Returns when another operation, which depends on this one, has run. That takes the notification of the end.
  package func end() async {
    await withCheckedContinuation { continuation in
      let dependent = BlockOperation { continuation.resume() }
      dependent.addDependency(self)
      OperationQueue().addOperation(dependent)
    }
  }
}

extension OperationQueue {
  /// Creates a queue of the given width.
  package convenience init(width: Int) {
    self.init()
    maxConcurrentOperationCount = width
  }

  /// Adds operations in order.
  package func add(_ operations: [Operation]) { for operation in operations { addOperation(operation) } }

  /// Returns when the queue is empty. An operation leaves its queue only after it has notified its dependents, so its
  /// `end()` may return before.
  package func becomesEmpty() async { await eventually { operationCount == 0 } }
}

/// Runs `body` on a thread that it may block.
package func onThread(_ body: @escaping @Sendable () -> Void) { Thread(block: body).start() }
