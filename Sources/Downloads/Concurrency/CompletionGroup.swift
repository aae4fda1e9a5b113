public import Foundation

/// A group of work that callers can wait for, but not change: unlike that of a `DispatchGroup`, its count is not in
/// their hands, so no stray `leave()` can end it early or trap.
///
/// ```swift
/// run.group.notify(queue: .main) { print("The batch has ended.") }
/// run.group.join(everything)  // a DispatchGroup of the program
/// ```
public struct CompletionGroup: Sendable {
  private let group: DispatchGroup

  package init(_ group: DispatchGroup) { self.group = group }

  /// Calls `body` once on `queue`: as soon as the group is empty, or at once if it is.
  public func notify(queue: DispatchQueue, execute body: @escaping @Sendable () -> Void) {
    group.notify(queue: queue, execute: body)
  }

  /// Enters `other`, and leaves it when this group is empty, so that a program can wait for several at once.
  public func join(_ other: DispatchGroup) {
    other.enter()
    group.notify(queue: .global()) { other.leave() }
  }

  /// Blocks until the group is empty, or until `timeout`. Use it only on a thread that may block, never in `async`
  /// code.
  @available(*, noasync, message: "Use 'await finished()'.")
  @discardableResult
  public func wait(timeout: DispatchTime = .distantFuture) -> DispatchTimeoutResult { group.wait(timeout: timeout) }

  /// Returns when the group is empty.
  public func finished() async {
    await withCheckedContinuation { continuation in
      group.notify(queue: .global()) { continuation.resume() }
    }
  }
}
