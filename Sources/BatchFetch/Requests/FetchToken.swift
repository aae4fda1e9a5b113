/// One caller's share in work that other callers may have joined: a download, or a request for thumbnails.
public struct FetchToken: Sendable {
  private let onCancel: @Sendable () -> Void
  private let onPriority: @Sendable (Priority) -> Void

  init(cancel: @escaping @Sendable () -> Void, setPriority: @escaping @Sendable (Priority) -> Void) {
    onCancel = cancel
    onPriority = setPriority
  }

  /// Cancels for this caller: its completion receives `cancelled`, never a success after this method returns, unless
  /// the completion is already being called. The work itself is canceled when its last caller cancels.
  public func cancel() { onCancel() }

  /// Changes the priority for this caller. The work runs with the highest priority among its callers.
  public func setPriority(_ priority: Priority) { onPriority(priority) }
}
