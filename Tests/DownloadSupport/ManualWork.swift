package import Downloads
internal import Synchronization
package import TestSupport

/// Work for operations, controlled by a test.
package final class ManualWork: Sendable {
  package typealias Completion = @Sendable (Result<Int, FetchFailure>) -> Void

  /// The priorities with which the work has begun, one for each beginning.
  package let beginnings = Recorder<Priority>()
  /// The requests that reached the work: "cancel", "pause", "resume", or a priority.
  package let requests = Recorder<String>()
  private let isCancellable: Bool
  private let state = Mutex<(progress: DownloadProgress.Handler?, completion: Completion?)>((nil, nil))

  /// - Parameter isCancellable: False if a cancel does not end the work.
  package init(isCancellable: Bool = true) { self.isCancellable = isCancellable }

  /// Makes an operation that does this work.
  package func operation(
    priority: Priority = .normal, progress: DownloadProgress.Handler? = nil
  ) -> FetchOperation<Int> {
    FetchOperation(priority: priority, progress: progress) { [self] demand, progress, completion in
      state.withLock { $0 = (progress, completion) }
      beginnings.record(demand.priority)
      return WorkHandle {
        self.requests.record("cancel")
        if self.isCancellable { self.end(.failure(.cancelled)) }
      } setPriority: {
        self.requests.record("\($0)")
      } setPaused: {
        self.requests.record($0 ? "pause" : "resume")
      }
    }
  }

  /// Reports progress.
  package func report(_ progress: DownloadProgress) { state.withLock { $0.progress }?(progress) }

  /// Ends the work, unless it has ended.
  package func end(_ result: Result<Int, FetchFailure>) {
    state.withLock { state in
      state.progress = nil
      return state.completion.take()
    }?(result)
  }
}
