/// Encodes thumbnails in one format, in this process.
protocol ImageEncoder: ThumbnailEncoder, MarkedFormat {
  /// Creates an encoder with the settings of `spec`, such as its quality.
  init(_ spec: ThumbnailSpec)

  /// Encodes a bitmap of an accepted layout, in sRGB, as a file without metadata.
  func encode(_ bitmap: borrowing Bitmap) throws(ImageError) -> [UInt8]

  /// The offset in every encoded file at which a comment can be inserted.
  static var commentOffset: Int { get }
}

extension ImageEncoder {
  func peakBytes(forPixels count: Int) -> Int { 0 }

  func file(of bitmap: borrowing Bitmap) throws(ImageError) -> EncodedFile {
    EncodedFile(format: Self.format, bytes: ThumbnailMark.adding(to: try encode(bitmap), by: Self.self))
  }

  static func commentOffset(inFileOf count: Int) -> Int { commentOffset }

  static func mayHold(_ comment: ArraySlice<UInt8>, _ ends: FileEnds) -> Bool {
    ends.prefix.dropFirst(commentOffset).starts(with: comment)
  }
}

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

extension OutputFormat {
  /// Pixels instead of a file, for programs that show thumbnails without decoding them: red, green, blue and alpha of
  /// each pixel, 8 bits each, row after row from the top without gaps, in sRGB with straight alpha. Not in ``all``,
  /// which lists the formats of files.
  public static let rgba = OutputFormat(
    rawValue: "rgba", mediaType: "application/octet-stream", fileExtension: "rgba")
}

/// Returns the pixels of a thumbnail in place of a file.
private struct RGBAEncoder: ThumbnailEncoder {
  let chromaStep = 1

  func peakBytes(forPixels count: Int) -> Int { 0 }

  func accepts(_ layout: PixelLayout) -> Bool { layout != .planes }

  func file(of bitmap: borrowing Bitmap) throws(ImageError) -> EncodedFile {
    EncodedFile(format: .rgba, bytes: try bitmap.fourSamples())
  }
}
