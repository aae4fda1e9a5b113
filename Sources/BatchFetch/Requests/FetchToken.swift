/// One caller's hold on work that others may share: a download, or a request for thumbnails.
public struct FetchToken: Sendable {
  private let onCancel: @Sendable () -> Void
  private let onPriority: @Sendable (ThumbnailRequest.Priority) -> Void

  init(cancel: @escaping @Sendable () -> Void, setPriority: @escaping @Sendable (ThumbnailRequest.Priority) -> Void) {
    onCancel = cancel
    onPriority = setPriority
  }

  /// Gives up this caller's wish: its completion gets `cancelled`, and no success once this has returned, unless it is
  /// being called already. The last caller to leave cancels the work itself.
  public func cancel() { onCancel() }

  /// Changes how urgent it is for this caller. Among several callers the most urgent one counts.
  public func setPriority(_ priority: ThumbnailRequest.Priority) { onPriority(priority) }
}
