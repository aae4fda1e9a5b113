/// Makes the files, or the pixels, of thumbnails. A value holds the settings from a spec.
protocol ThumbnailEncoder: Sendable {
  /// The number of pixels per chroma sample in each direction: 1 if every pixel has its own color.
  var chromaStep: Int { get }

  /// Returns the peak number of bytes that the encoder allocates for `count` pixels, besides a buffer for the file,
  /// estimated generously.
  func peakBytes(forPixels count: Int) -> Int

  /// Returns true if ``file(of:)`` accepts bitmaps of this layout. Every encoder accepts gray and RGB.
  func accepts(_ layout: PixelLayout) -> Bool

  /// Encodes a bitmap of an accepted layout, in sRGB, as a file without metadata except a ``ThumbnailMark``. Only
  /// files have a mark.
  func file(of bitmap: borrowing Bitmap) throws(ImageError) -> EncodedFile
}

/// The file of a thumbnail.
struct EncodedFile {
  var format: OutputFormat
  var bytes: [UInt8]
}

extension ThumbnailSpec {
  /// Returns the encoder for the file of `decoder`. `encoders` are the processes that encode AVIF.
  func encoder(for decoder: some ImageDecoder, _ encoders: DecoderPool) -> any ThumbnailEncoder {
    #if WebP
      if format == .smallest { return SmallestEncoder(self) }
    #endif
    if format == .avif { return AVIFEncoder(self, encoders) }
    if format == .rgba { return RGBAEncoder() }
    if format == .placeholder { return PlaceholderEncoder() }
    return format.encoder?.init(self) ?? decoder.automaticEncoder(for: self)
  }
}
