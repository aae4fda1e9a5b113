public import Foundation

/// One rendered and encoded thumbnail.
public struct Thumbnail: Hashable, Sendable {
  /// The requested spec.
  public var spec: ThumbnailSpec
  /// The actual size in pixels. Smaller than the box for `inside` and for small sources.
  public var size: PixelSize
  /// The format of ``bytes``.
  public var format: OutputFormat
  /// The whole file, in the colors of the spec, without metadata; the pixels if the format is ``OutputFormat/rgba``;
  /// for ``OutputFormat/placeholder`` and ``OutputFormat/perceptualHash``, a record from which ``placeholder`` or
  /// ``perceptualHash`` is read.
  public var bytes: [UInt8]

  /// Creates a thumbnail.
  public init(spec: ThumbnailSpec, size: PixelSize, format: OutputFormat, bytes: [UInt8]) {
    self.spec = spec
    self.size = size
    self.format = format
    self.bytes = bytes
  }
}

extension Thumbnail {
  /// The ``bytes``, for the interfaces of Foundation.
  public var data: Data { Data(bytes) }
}

/// The properties of a source image that its header declares.
public struct SourceImage: Hashable, Sendable {
  /// The size in pixels as displayed, with the EXIF orientation applied.
  public var size: PixelSize
  /// The format of the file.
  public var format: SourceFormat

  /// Creates a description of a source image.
  public init(size: PixelSize, format: SourceFormat) {
    self.size = size
    self.format = format
  }
}

// MARK: Checking

extension Thumbnail {
  /// True if ``bytes`` are a whole thumbnail of ``format`` and ``size``, as a ``Renderer`` makes it: a file has a
  /// ``ThumbnailMark``, a header that declares both, and nothing before it or behind its end. The number of pixels is
  /// that of the size. A placeholder or a hash is a valid record.
  ///
  /// For thumbnails from elsewhere: no decoder sees them.
  var isWhole: Bool {
    // A division, because the product of the numbers in a record can overflow Int.
    if format == .rgba { return bytes.count % 4 == 0 && bytes.count / 4 == size.area }
    if format == .placeholder { return placeholder != nil }
    if format == .perceptualHash { return perceptualHash != nil }
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
