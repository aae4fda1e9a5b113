/// Decodes one file. A value holds its header and the choices for decoding it.
///
/// The methods are called in the order in which they are declared. All of them get the same bytes: the file from its
/// signature on.
protocol ImageDecoder: Sendable {
  /// The properties that the header declares.
  var header: ImageHeader { get }

  /// Completes the header with the metadata that follows the image data of the whole file. Does nothing by default.
  mutating func readTrailer(_ file: Span<UInt8>)

  /// Returns the encoder that ``ThumbnailSpec/Format/auto`` stands for, with the settings of `spec`: that of the same
  /// format if there is one, otherwise one that can store all pixels of the file.
  func automaticEncoder(for spec: ThumbnailSpec) -> any ImageEncoder

  /// Chooses the size of an image that can be drawn at any size: so large that no thumbnail enlarges it, and at most
  /// `maxPixels`. Does nothing by default.
  mutating func fill(_ specs: [ThumbnailSpec], maxPixels: Int)

  /// Chooses the cheapest way to decode the file that satisfies `demand`, such as fewer pixels. Does nothing by
  /// default: the whole file is decoded at full size.
  mutating func adapt(to demand: DecodingDemand)

  /// The size of the image as it is decoded. Smaller than the stored size if ``adapt(to:)`` chose so; the default is
  /// the stored size.
  var decodedSize: PixelSize { get }

  /// The peak number of bytes that ``decode(_:colors:into:warnings:)`` allocates, estimated generously.
  var peakBytes: Int { get }

  /// Decodes the whole file, or its first frame. The pixels are passed on as the file stores them, before the
  /// orientation is applied.
  ///
  /// - Parameters:
  ///   - file: The bytes of the file.
  ///   - colors: The cache of color transforms.
  ///   - sink: Gets the shape of the image and then all of its rows.
  ///   - warnings: Harmless oddities of the file are appended here, each a short sentence.
  /// - Throws: `truncated` if any image data is missing, `decodeError` if it is corrupt, `decodeLimit` if it takes more
  ///   work than an image of this size should, `unsupportedFormat` or `outOfMemory`. If the file is truncated or
  ///   corrupt, `sink` has got what could be decoded.
  func decode(
    _ file: Span<UInt8>, colors: ColorTransformCache, into sink: some RowSink, warnings: inout [String]
  ) throws(ImageError)
}

extension ImageDecoder {
  mutating func readTrailer(_ file: Span<UInt8>) {}

  mutating func fill(_ specs: [ThumbnailSpec], maxPixels: Int) {}

  mutating func adapt(to demand: DecodingDemand) {}

  var decodedSize: PixelSize { header.storedSize }
}
