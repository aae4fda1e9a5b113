extension WorkHandle {
  /// The handle of a request for thumbnails.
  init(_ token: ThumbnailToken) {
    self.init(cancel: token.cancel, setPriority: token.setPriority) { $0 ? token.pause() : token.resume() }
  }
}
