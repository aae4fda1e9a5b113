extension Renderer {
  /// Looks at the first bytes of a file as they arrive, so that a download without hope can be stopped early.
  ///
  /// Cheap enough to be called whenever more bytes are there: nothing is decoded or allocated for pixels.
  ///
  /// - Parameter prefix: the bytes from the beginning of the file to wherever it ends so far.
  /// - Returns: the source as its header describes it, or nil while more bytes are needed to know. A file that ends
  ///   there is judged by ``render(_:specs:)``. A PNG file may keep its orientation behind its picture: then width and
  ///   height are exchanged once all of it is there.
  /// - Throws: `notAnImage`, `unsupportedFormat`, `tooManyPixels`, `decodeError` or `decodeLimit`, as soon as it is
  ///   certain that ``render(_:specs:)`` would fail.
  public func judge(prefix: Span<UInt8>) throws(ImageError) -> SourceImage? {
    try ImageHeader.read(prefix, maxPixels: maxPixels)?.source
  }
}
