/// Controls work that is running.
@usableFromInline package struct WorkHandle: Sendable {
  /// Cancels the work.
  package let cancel: @Sendable () -> Void
  /// Changes the priority of the work.
  package let setPriority: @Sendable (Priority) -> Void
  /// Pauses or resumes the work.
  package let setPaused: @Sendable (Bool) -> Void

  /// Creates a handle from three closures. By default, the priority and pauses change nothing.
  @usableFromInline package init(
    cancel: @escaping @Sendable () -> Void, setPriority: @escaping @Sendable (Priority) -> Void = { _ in },
    setPaused: @escaping @Sendable (Bool) -> Void = { _ in }
  ) {
    self.cancel = cancel
    self.setPriority = setPriority
    self.setPaused = setPaused
  }
}

extension WorkHandle {
  /// The handle of a download.
  init(_ token: DownloadToken) {
    self.init(cancel: token.cancel, setPriority: token.setPriority) { $0 ? token.pause() : token.resume() }
  }
}
