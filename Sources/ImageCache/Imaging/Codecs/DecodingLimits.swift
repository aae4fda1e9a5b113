extension PixelSize {
  /// Throws `tooFewPixels` if there are fewer than `minPixels`.
  package func check(minPixels: Int) throws(ImageError) {
    guard area < minPixels else { return }
    throw ImageError(.tooFewPixels, "The image is \(self) pixels; at least \(minPixels) in all are wanted.")
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
