public import Foundation

/// A batch that was started.
public struct BatchRun: Sendable {
  /// Empty when everything is told, the completion excepted. For `notify`; and for `wait`, on a thread that may block.
  public let group: DispatchGroup
  private let onCancel: @Sendable () -> Void

  init(group: DispatchGroup, cancel: @escaping @Sendable () -> Void) {
    self.group = group
    onCancel = cancel
  }

  /// Pulls nothing more, and cancels what is on its way and nobody else wants. Every element that was begun is still
  /// told of, then the completion follows.
  public func cancel() { onCancel() }
}
