import CImage

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

  /// Chooses the size of an image that can be drawn at any size: so large that no thumbnail enlarges it, or the part of
  /// it that is left without a border, and at most `maxPixels`. Does nothing by default.
  mutating func fill(_ specs: [ThumbnailSpec], within parts: [Int: TrimmedPart], maxPixels: Int)

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

  mutating func fill(_ specs: [ThumbnailSpec], within parts: [Int: TrimmedPart], maxPixels: Int) {}

  mutating func adapt(to demand: DecodingDemand) {}

  var decodedSize: PixelSize { header.storedSize }
}

/// Recognizes the files of one format, and reads their headers in this process.
protocol FileDecoder: ImageDecoder {
  /// The format of the files.
  static var format: SourceFormat { get }

  /// The signatures by which the files are recognized.
  static var signatures: [FileSignature] { get }

  /// Returns the offset of a file that follows garbage, such as a warning that a script printed. Its signature must lie
  /// entirely in `window`. The default is nil: garbage before the file is not tolerated.
  static func start(afterGarbageIn window: Span<UInt8>) -> Int?

  /// Reads the header of the file that begins with `prefix`. Returns nil if more bytes are needed. Decodes nothing and
  /// allocates no memory for pixels.
  ///
  /// Throws `unsupportedFormat`, `tooManyPixels`, `decodeError` or `decodeLimit` as soon as it is certain that the file
  /// cannot be decoded.
  init?(prefix: Span<UInt8>, limits: DecodingLimits) throws(ImageError)

  /// Reads the header of a whole file. Returns nil if it ends too early. The default is ``init(prefix:limits:)``.
  init?(whole file: Span<UInt8>, limits: DecodingLimits) throws(ImageError)
}

extension FileDecoder {
  static func start(afterGarbageIn window: Span<UInt8>) -> Int? { nil }

  init?(whole file: Span<UInt8>, limits: DecodingLimits) throws(ImageError) {
    try self.init(prefix: file, limits: limits)
  }
}

/// The needs of all thumbnails of an image, from which its decoder chooses how to decode it.
struct DecodingDemand: Sendable {
  /// The resolution that one thumbnail needs.
  struct Target: Sendable {
    /// Source pixels per thumbnail pixel in one direction; 1 if the thumbnail needs every pixel.
    var reduction: Double
    /// Thumbnail pixels per chroma sample in one direction: 2 for 4:2:0 output, otherwise 1.
    var chromaStep = 1
  }

  /// A form of decoded samples.
  enum Form {
    /// Pixels of the header's layout.
    case pixels
    /// Luma and chroma in separate planes, as most JPEG files store them. A decoder may return pixels instead.
    case planes
  }

  /// The resolution for each thumbnail. A decoder may shrink the image if at least twice the resolution remains.
  var targets: [Target]
  /// The form that all thumbnails can be made from.
  var form: Form
}

extension PixelSize {
  /// Throws `tooFewPixels` if there are fewer than `minPixels`, and `tooLong` if the longer side is more than
  /// `maxAspectRatio` times the shorter one. Nil means any.
  package func check(minPixels: Int, maxAspectRatio: Double?) throws(ImageError) {
    if area < minPixels {
      throw ImageError(.tooFewPixels, "The image is \(self) pixels; at least \(minPixels) in all are wanted.")
    }
    guard let ratio = maxAspectRatio, Double(max(width, height)) > ratio * Double(min(width, height)) else { return }
    throw ImageError(.tooLong, "The image is \(self) pixels; at most \(ratio) to 1 is wanted.")
  }
}

/// The limits on a source, whatever its format. Decoders have further limits on the work for files of their format.
struct DecodingLimits: Sendable {
  /// The maximum number of pixels.
  var maxPixels: Int

  /// The maximum length of a side. The weights and rows of a resize grow with the longer side, not with the area, so
  /// without this limit an image one pixel high could cost as much as a large one.
  static let longestSide = 1 << 17

  /// The maximum number of segments or chunks before the image data. Real files have a few dozen.
  static let maxSegments = 4096

  /// The maximum size of an ICC profile in bytes. Large printing profiles take about 3 MB.
  static let maxProfileBytes = 4 << 20

  /// Throws `decodeError` if the declared size is empty, and `tooManyPixels` if it exceeds a limit.
  func check(_ size: PixelSize) throws(ImageError) {
    guard size.width > 0, size.height > 0 else {
      throw ImageError(.decodeError, "The header declares an empty image (\(size)).")
    }
    guard max(size.width, size.height) <= Self.longestSide else {
      throw ImageError(
        .tooManyPixels, "The image is \(size) pixels; at most \(Self.longestSide) are allowed per side.")
    }
    // A division, because the product of two 32-bit numbers can overflow Int.
    guard size.width <= maxPixels / size.height else {
      throw ImageError(.tooManyPixels, "The image is \(size) pixels; at most \(maxPixels) in all are allowed.")
    }
  }
}

/// The planes and the colors of an image, which its decoder knows before it has the first row.
struct DecodedShape {
  /// The layout of the rows.
  var layout: PixelLayout
  /// The size of each plane, and the area of the stored image that it shows, so it may be shrunk or cropped.
  var planes: [PlaneShape]
  /// The transform to sRGB; nil if the pixels are in sRGB.
  var colors: ColorTransform?
}

/// Gets an image from its decoder a few rows at a time, so that no more of them need to be in memory.
protocol RowSink: AnyObject {
  /// Prepares for an image of this shape. Called once, before the first rows.
  func begin(_ shape: DecodedShape) throws(ImageError)

  /// Returns the part of a plane that it needs. Samples in other columns may be undefined, and other rows may be
  /// skipped. Called after ``begin(_:)``.
  func needed(ofPlane index: Int) -> CImageArea

  /// Omits the next rows of each plane.
  func skip(_ counts: [Int])

  /// Takes the next rows of each plane, from top to bottom.
  func take(_ rows: [CImageBitmap]) throws(ImageError)
}

extension RowSink {
  /// Takes a whole image; `colors` is its transform to sRGB, nil if it is in sRGB.
  func take(whole bitmap: borrowing Bitmap, colors: ColorTransform? = nil) throws(ImageError) {
    let planes = bitmap.planes
    try begin(DecodedShape(layout: bitmap.layout, planes: planes.map(\.shape), colors: colors))
    try take(planes.map(\.view))
  }
}
