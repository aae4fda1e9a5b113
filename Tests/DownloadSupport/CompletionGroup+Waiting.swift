internal import Dispatch
package import Downloads
internal import Foundation

extension CompletionGroup {
  /// True if nothing holds up the threads that wait for the group.
  package var isEmpty: Bool { wait(timeout: .now()) == .success }

  /// Waits on a plain thread, which blocks, and then calls `body` there.
  package func waitOnThread(_ body: @escaping @Sendable () -> Void) {
    Thread {
      self.wait()
      body()
    }.start()
  }
}
