/// What the first bytes of a file say, before anything is decoded or allocated.
struct ImageHeader: Sendable {
  /// The file's format.
  var format: ImageFormat
  /// Where the picture's file begins in the bytes: behind the garbage some servers put before it.
  var start = 0
  /// Rows and columns as stored, before the orientation.
  var storedSize: PixelSize
  /// The samples of a decoded pixel.
  var layout: PixelLayout
  /// How the stored picture is to be seen.
  var orientation = Orientation.upright
  /// A JPEG in several scans, whose coefficients are all held until the last has come: progressive, or one component
  /// after the other.
  var keepsCoefficients = false
  /// Four inks instead of three lights; decoded as RGB.
  var isCMYK = false
  /// How many times further apart the colour samples of a JPEG are in one direction than in the other: 1 for 4:4:4 and
  /// 4:2:0, 2 for 4:2:2.
  var chromaStretch = 1
  /// Where the ICC profile of a JPEG file stands. PNG keeps its profile compressed.
  var profile = ICCSegments()
  /// A PNG file that has an ICC profile.
  var hasCompressedProfile = false
  /// What was odd and does no harm.
  var warnings: [String] = []

  /// The source as callers see it.
  var source: SourceImage { SourceImage(size: orientation.applied(to: storedSize), format: format) }

  /// The header of the file that begins with `prefix`; nil when more bytes are needed to tell.
  static func read(_ prefix: Span<UInt8>, maxPixels: Int) throws(ImageError) -> ImageHeader? {
    switch try FileSignature.recognize(prefix) {
    case .undecided: nil
    case .jpeg(let start): try JPEGHeaderReader(maxPixels: maxPixels, start: start).read(prefix)
    case .png: try PNGHeaderReader(maxPixels: maxPixels).read(prefix)
    }
  }

  /// This header and what stands behind the picture, now that the whole file is there.
  consuming func completed(by bytes: Span<UInt8>) -> ImageHeader {
    if format == .png { PNGHeaderReader(maxPixels: .max).readTrailer(bytes, into: &self) }
    return self
  }

  /// Most segments or chunks before the picture data. Real files have a few dozen at most.
  static let maxSegments = 4096

  /// Reads the orientation from an EXIF block, or notes why not.
  mutating func readOrientation(exif block: Span<UInt8>) {
    do throws(Orientation.BadEXIF) {
      orientation = try Orientation(exif: block) ?? orientation
    } catch {
      // A file may repeat what is odd as often as it likes.
      let warning = "EXIF ignored: \(error.reason)"
      if !warnings.contains(warning) { warnings.append(warning) }
    }
  }
}

extension PixelSize {
  /// The longest side of a picture. Formats that allow more can make a line cost as much as a picture: the weights
  /// and rows of a resize grow with the longer side, not with the area.
  static let longestSide = 1 << 17

  /// Refuses what is empty, has more than `maxPixels`, or is longer than ``longestSide``.
  func judge(maxPixels: Int) throws(ImageError) {
    guard width > 0, height > 0 else {
      throw ImageError(.decodeError, "The picture's header says it has no pixels (\(self)).")
    }
    guard max(width, height) <= Self.longestSide else {
      throw ImageError(
        .tooManyPixels, "The picture has \(self) pixels; at most \(Self.longestSide) are allowed in a row.")
    }
    // A product of two 32-bit numbers can be too large for Int.
    guard width <= maxPixels / height else {
      throw ImageError(.tooManyPixels, "The picture has \(self) pixels; at most \(maxPixels) are allowed.")
    }
  }
}
