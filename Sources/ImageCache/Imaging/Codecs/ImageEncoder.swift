/// Encodes thumbnails in one format, in this process.
protocol ImageEncoder: ThumbnailEncoder, MarkedFormat {
  /// Creates an encoder with the settings of `spec`, such as its quality.
  init(_ spec: ThumbnailSpec)

  /// Encodes a bitmap of an accepted layout, in sRGB, as a file without metadata.
  func encode(_ bitmap: borrowing Bitmap) throws(ImageError) -> [UInt8]

  /// The offset in every encoded file at which a comment can be inserted.
  static var commentOffset: Int { get }

  /// Returns an encoded file with a declaration of its colors, which are not sRGB.
  static func declaring(_ colors: FileColors, profile: [UInt8], in file: [UInt8]) -> [UInt8]
}

extension ImageEncoder {
  func peakBytes(forPixels count: Int) -> Int { 0 }

  func file(of bitmap: borrowing Bitmap, colors: FileColors) throws(ImageError) -> EncodedFile {
    var file = try encode(bitmap)
    if let profile = colors.profile { file = Self.declaring(colors, profile: profile, in: file) }
    return EncodedFile(format: Self.format, bytes: ThumbnailMark.adding(to: file, by: Self.self))
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

  /// Encodes a bitmap of an accepted layout, with these colors, as a file without metadata except their declaration and
  /// a ``ThumbnailMark``. Only files have a mark.
  func file(of bitmap: borrowing Bitmap, colors: FileColors) throws(ImageError) -> EncodedFile
}

extension ThumbnailEncoder {
  /// Encodes a bitmap in sRGB.
  func file(of bitmap: borrowing Bitmap) throws(ImageError) -> EncodedFile { try file(of: bitmap, colors: .sRGB) }
}

/// The file of a thumbnail.
struct EncodedFile {
  var format: OutputFormat
  var bytes: [UInt8]
}

extension ThumbnailSpec {
  /// Returns the encoder for the file of `decoder`. `encoders` are the processes that encode AVIF.
  func encoder(for decoder: some ImageDecoder, _ encoders: DecoderPool) -> any ThumbnailEncoder {
    guard maxBytes != nil, ![.rgba, .placeholder, .perceptualHash, .original].contains(format) else {
      return freeEncoder(for: decoder, encoders)
    }
    return LimitedEncoder(spec: self) { $0.freeEncoder(for: decoder, encoders) }
  }

  /// Returns the encoder without a limit of bytes.
  private func freeEncoder(for decoder: some ImageDecoder, _ encoders: DecoderPool) -> any ThumbnailEncoder {
    #if WebP
      if format == .smallest { return SmallestEncoder(self) }
    #endif
    if format == .avif { return AVIFEncoder(self, encoders) }
    if format == .rgba { return RGBAEncoder() }
    if format == .placeholder { return PlaceholderEncoder() }
    if format == .perceptualHash { return PerceptualHashEncoder() }
    if format == .original { return OriginalEncoder() }
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

/// Makes files that are no longer than the limit of their spec, by lowering the quality.
private struct LimitedEncoder: ThumbnailEncoder {
  let spec: ThumbnailSpec
  private let usual: any ThumbnailEncoder
  private let encoder: @Sendable (ThumbnailSpec) -> any ThumbnailEncoder

  /// - Parameter encoder: Returns the encoder of a spec, which differs from `spec` in nothing but the quality.
  init(spec: ThumbnailSpec, _ encoder: @escaping @Sendable (ThumbnailSpec) -> any ThumbnailEncoder) {
    (self.spec, self.encoder, usual) = (spec, encoder, encoder(spec))
  }

  var chromaStep: Int { usual.chromaStep }

  func peakBytes(forPixels count: Int) -> Int { usual.peakBytes(forPixels: count) }

  func accepts(_ layout: PixelLayout) -> Bool { usual.accepts(layout) }

  func file(of bitmap: borrowing Bitmap, colors: FileColors) throws(ImageError) -> EncodedFile {
    try QualitySearch.file(for: spec) { spec throws(ImageError) in try encoder(spec).file(of: bitmap, colors: colors) }
  }
}

/// The search for the highest quality whose file is not too long: that of the spec, or else the lowest one, and then by
/// bisection between them. A plain value.
struct QualitySearch {
  private let limit: Int
  /// The quality to try next; nil at the end.
  private(set) var next: Int?
  /// The qualities between the last one that fit and the first one that did not.
  private var open: Range<Int>
  private var best: EncodedFile?

  /// Returns the file of the highest quality that fits. `encode` returns that of a spec, which differs from `spec` in
  /// nothing but the quality.
  static func file(
    for spec: ThumbnailSpec, _ encode: (ThumbnailSpec) throws(ImageError) -> EncodedFile
  ) throws(ImageError) -> EncodedFile {
    var search = QualitySearch(spec)
    while let quality = search.next {
      var spec = spec
      spec.quality = quality
      try search.take(try encode(spec))
    }
    return try search.result()
  }

  init(_ spec: ThumbnailSpec) {
    (limit, next) = (spec.maxBytes ?? .max, spec.quality)
    open = 1..<max(1, spec.quality)
  }

  /// Takes the file of the quality ``next``. Throws `outputTooLarge` if none fits.
  mutating func take(_ file: EncodedFile) throws(ImageError) {
    guard let quality = next else { return }
    if file.bytes.count <= limit {
      best = file
      // The first one has the quality of the spec.
      open = open.contains(quality) ? quality + 1..<open.upperBound : 0..<0
    } else {
      if quality == 1 || file.format == .gif { throw Self.failure(file, limit) }
      if open.contains(quality) { open = open.lowerBound..<quality }
    }
    next = open.isEmpty ? nil : best == nil ? 1 : open.lowerBound + open.count / 2
  }

  func result() throws(ImageError) -> EncodedFile {
    guard let best else { throw ImageError(.outputTooLarge, "No quality gives a file of at most \(limit) bytes.") }
    return best
  }

  private static func failure(_ file: EncodedFile, _ limit: Int) -> ImageError {
    let (format, count) = (file.format, file.bytes.count)
    let hasQuality = format != .png && format != .gif
    let advice =
      hasQuality ? "" : "; \(format.rawValue.uppercased()) has no quality that could be lower, WebP and JPEG do"
    return ImageError(
      .outputTooLarge,
      "The thumbnail has \(count) bytes at the lowest quality, more than the limit of \(limit)\(advice).")
  }
}

/// Returns the pixels of a thumbnail in place of a file.
private struct RGBAEncoder: ThumbnailEncoder {
  let chromaStep = 1

  func peakBytes(forPixels count: Int) -> Int { 0 }

  func accepts(_ layout: PixelLayout) -> Bool { layout != .planes }

  func file(of bitmap: borrowing Bitmap, colors: FileColors) throws(ImageError) -> EncodedFile {
    EncodedFile(format: .rgba, bytes: try bitmap.fourSamples())
  }
}

extension ThumbnailSpec {
  /// The file of the source in place of a thumbnail: its bytes as they are, once they have been decoded. It is cached
  /// like a thumbnail. ``Thumbnail/size`` is that of the source.
  ///
  /// ```swift
  /// let rendering = try renderer.render(bytes, specs: [ThumbnailSpec(width: 256), .original])
  /// print(rendering.source.format, rendering.thumbnails[1].bytes == bytes)
  /// ```
  public static let original = ThumbnailSpec(width: 8, format: .original)
}

extension OutputFormat {
  /// The format of a source, which ``Renderer/Rendering/source`` names. Not in ``all``, which lists the formats of
  /// thumbnails.
  public static let original = OutputFormat(
    rawValue: "original", mediaType: "application/octet-stream", fileExtension: "original")
}

/// Stands for the file of the source, which the renderer has.
private struct OriginalEncoder: ThumbnailEncoder {
  let chromaStep = 2

  func peakBytes(forPixels count: Int) -> Int { 0 }

  /// Planes too, so that an original never keeps the thumbnails of a JPEG file from being made of planes.
  func accepts(_ layout: PixelLayout) -> Bool { true }

  func file(of bitmap: borrowing Bitmap, colors: FileColors) throws(ImageError) -> EncodedFile {
    EncodedFile(format: .original, bytes: [])
  }
}
