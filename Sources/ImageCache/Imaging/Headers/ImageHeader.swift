/// The properties that the first bytes of a file declare, read before anything is decoded or allocated.
struct ImageHeader: Sendable {
  /// The format of the file.
  var format: ImageFormat
  /// The offset of the image file in the bytes. Not 0 if a server sent garbage before it.
  var start = 0
  /// The size as stored, before the orientation is applied.
  var storedSize: PixelSize
  /// The layout of the decoded pixels.
  var layout: PixelLayout
  /// The transform from the stored to the displayed image.
  var orientation = Orientation.upright
  /// True for a JPEG with several scans, progressive or one component at a time: the decoder holds all coefficients
  /// until the last scan is read.
  var keepsCoefficients = false
  /// True for CMYK and YCCK, which are decoded as RGB.
  var isCMYK = false
  /// The ratio of the chroma spacings of a JPEG in the two directions: 1 for 4:4:4 and 4:2:0, 2 for 4:2:2.
  var chromaStretch = 1
  /// The location of the ICC profile in a JPEG file. Empty for PNG, which compresses its profile.
  var profile = ICCSegments()
  /// True for a PNG file that has an ICC profile.
  var hasCompressedProfile = false
  /// Harmless oddities.
  var warnings: [String] = []

  /// The description of the source for callers.
  var source: SourceImage { SourceImage(size: orientation.applied(to: storedSize), format: format) }

  /// Reads the header of the file that begins with `prefix`. Returns nil if more bytes are needed.
  static func read(_ prefix: Span<UInt8>, maxPixels: Int) throws(ImageError) -> ImageHeader? {
    switch try FileSignature.recognize(prefix) {
    case .undecided: nil
    case .jpeg(let start): try JPEGHeaderReader(maxPixels: maxPixels, start: start).read(prefix)
    case .png: try PNGHeaderReader(maxPixels: maxPixels).read(prefix)
    }
  }

  /// Returns this header completed with the metadata that follows the image data. `bytes` is the whole file.
  consuming func completed(by bytes: Span<UInt8>) -> ImageHeader {
    if format == .png { PNGHeaderReader(maxPixels: .max).readTrailer(bytes, into: &self) }
    return self
  }

  /// The maximum number of segments or chunks before the image data. Real files have a few dozen.
  static let maxSegments = 4096

  /// Reads the orientation from an EXIF block, or adds a warning if the block is malformed.
  mutating func readOrientation(exif block: Span<UInt8>) {
    do throws(Orientation.BadEXIF) {
      orientation = try Orientation(exif: block) ?? orientation
    } catch {
      // A file with thousands of malformed blocks gets one warning.
      let warning = "EXIF ignored: \(error.reason)"
      if !warnings.contains(warning) { warnings.append(warning) }
    }
  }
}

extension PixelSize {
  /// The maximum length of a side of a source. The weights and rows of a resize grow with the longer side, not with the
  /// area, so without this limit an image one pixel high could cost as much as a large one.
  static let longestSide = 1 << 17

  /// Throws if the size is empty, has more than `maxPixels`, or has a side longer than ``longestSide``.
  func judge(maxPixels: Int) throws(ImageError) {
    guard width > 0, height > 0 else {
      throw ImageError(.decodeError, "The header declares an empty image (\(self)).")
    }
    guard max(width, height) <= Self.longestSide else {
      throw ImageError(
        .tooManyPixels, "The image is \(self) pixels; at most \(Self.longestSide) are allowed per side.")
    }
    // A division, because the product of two 32-bit numbers can overflow Int.
    guard width <= maxPixels / height else {
      throw ImageError(.tooManyPixels, "The image is \(self) pixels; at most \(maxPixels) in all are allowed.")
    }
  }
}
