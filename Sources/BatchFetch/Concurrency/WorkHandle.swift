/// Controls work that is running.
struct WorkHandle: Sendable {
  /// Cancels the work.
  var cancel: @Sendable () -> Void
  /// Changes the priority of the work. Default: nothing, for work without a priority.
  var setPriority: @Sendable (Priority) -> Void = { _ in }
  /// Pauses or resumes the work. Default: nothing, for work that cannot be paused.
  var setPaused: @Sendable (Bool) -> Void = { _ in }
}

extension WorkHandle {
  /// The handle of a download.
  init(_ token: DownloadToken) {
    self.init(cancel: token.cancel, setPriority: token.setPriority) { $0 ? token.pause() : token.resume() }
  }

  /// The handle of a request for thumbnails.
  init(_ token: ThumbnailToken) {
    self.init(cancel: token.cancel, setPriority: token.setPriority) { $0 ? token.pause() : token.resume() }
  }
}
