extension Renderer {
  /// Examines the first bytes of a file as they arrive, so that a download which cannot succeed can stop early.
  ///
  /// Cheap enough to call whenever more bytes arrive: it decodes nothing and allocates no memory for pixels.
  ///
  /// - Parameter prefix: All bytes of the file received so far.
  /// - Returns: The source as its header describes it, or nil if more bytes are needed. If the file is complete,
  ///   ``render(_:specs:)`` reports the error. PNG and WebP files may store their orientation after the image data;
  ///   width and height may then be swapped in the result of ``render(_:specs:)``.
  /// - Throws: `notAnImage`, `unsupportedFormat`, `tooManyPixels`, `tooFewPixels`, `decodeError` or `decodeLimit`, as
  ///   soon as ``render(_:specs:)`` is certain to fail.
  public func judge(prefix: Span<UInt8>) throws(ImageError) -> SourceImage? {
    if case .isolated(let format) = try FileRecognition(prefix) { try caches.decoders.check(for: format) }
    let source = try ImageFile(prefix: prefix, limits: limits)?.decoder.header.source
    try source?.size.check(minPixels: minPixels)
    return source
  }
}
