import Dispatch
import Foundation

@testable import BatchFetch

extension CompletionGroup {
  /// True if nothing holds up the threads that wait for the group.
  var isEmpty: Bool { wait(timeout: .now()) == .success }

  /// Waits on a plain thread, which blocks, and then calls `body` there.
  func waitOnThread(_ body: @escaping @Sendable () -> Void) {
    Thread {
      self.wait()
      body()
    }.start()
  }
}
