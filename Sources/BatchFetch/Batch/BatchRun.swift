internal import Foundation

/// A running batch.
public struct BatchRun: Sendable {
  /// A group that is empty once every outcome has been delivered; the completion follows.
  public let group: CompletionGroup
  private let onCancel: @Sendable () -> Void

  init(group: DispatchGroup, cancel: @escaping @Sendable () -> Void) {
    self.group = CompletionGroup(group)
    onCancel = cancel
  }

  /// Stops pulling elements, and cancels those in flight, except for work that other callers need. Every element that
  /// has begun still gets its outcome, and then the completion is called.
  public func cancel() { onCancel() }
}
