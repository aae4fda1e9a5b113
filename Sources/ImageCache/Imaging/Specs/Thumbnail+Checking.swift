extension Thumbnail {
  /// True if ``bytes`` are a whole thumbnail of ``format`` and ``size``, as a ``Renderer`` makes it: a file has a
  /// ``ThumbnailMark``, a header that declares both, and nothing before it or behind its end. The number of pixels is
  /// that of the size. A placeholder is a valid record.
  ///
  /// For thumbnails from elsewhere: no decoder sees them.
  var isWhole: Bool {
    // A division, because the product of the numbers in a record can overflow Int.
    if format == .rgba { return bytes.count % 4 == 0 && bytes.count / 4 == size.area }
    if format == .placeholder { return placeholder != nil }
    guard let file = CodecTable.files.first(where: { $0.format == format }) else { return false }
    return ThumbnailMark.isPresent(in: bytes) && file.size(ofWhole: bytes.span) == size
  }
}

extension MarkedFormat {
  /// Returns the size that a file declares; nil unless it is a file of this format that ends where its last part does.
  static func size(ofWhole file: Span<UInt8>) -> PixelSize? { end(of: file) == file.count ? size(of: file) : nil }
}

extension ImageEncoder {
  static func size(of file: Span<UInt8>) -> PixelSize? {
    let image = try? ImageFile(prefix: file, limits: DecodingLimits(maxPixels: .max))
    guard let image, image.start == 0, image.decoder.header.format.rawValue == format.rawValue else { return nil }
    return image.decoder.header.source.size
  }
}
