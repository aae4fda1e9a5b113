/// One caller's hold on a download that others may share.
public struct DownloadToken: Sendable {
  private let onCancel: @Sendable () -> Void
  private let onPriority: @Sendable (ThumbnailRequest.Priority) -> Void

  init(cancel: @escaping @Sendable () -> Void, setPriority: @escaping @Sendable (ThumbnailRequest.Priority) -> Void) {
    onCancel = cancel
    onPriority = setPriority
  }

  /// Gives up this caller's wish: its completion gets `cancelled`, unless it was called already. The last caller to
  /// leave cancels the download itself.
  public func cancel() { onCancel() }

  /// Changes how urgent it is for this caller. Among several callers the most urgent one counts.
  public func setPriority(_ priority: ThumbnailRequest.Priority) { onPriority(priority) }
}
