internal import Dispatch
package import Testing

/// Runs tests one piece at a time on a thread outside the cooperative pool, which is as wide as the machine has
/// processors. Use it for tests that work for seconds without suspending: in the pool, they would stop all other tests
/// of the process.
package struct OwnThreadTrait: SuiteTrait, TestTrait, TestScoping {
  private static let executor = QueueExecutor()

  package var isRecursive: Bool { true }

  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(Self.executor) { try await function() }
  }
}

extension Trait where Self == OwnThreadTrait {
  /// Runs the tests on a thread outside the cooperative pool.
  package static var ownThread: Self { Self() }
}

/// Runs tasks on a serial dispatch queue.
private final class QueueExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "thumbs.tests")

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
