internal import ImageCache

extension FetchFailure {
  /// The failure of an image that cannot be decoded or rendered.
  init(_ error: ImageError, attempts: Int = 0) {
    self.init(.image(error.code), error.message, attempts: attempts)
    origin = error.origin
  }
}
