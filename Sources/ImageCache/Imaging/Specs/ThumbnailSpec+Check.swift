extension ThumbnailSpec {
  /// The maximum length of a side of a WebP file (RFC 9649, section 3.4).
  static let longestWebPSide = 16383

  /// Throws `badSpec` if the box, scale or quality is out of range, if this build lacks the format, or if the output
  /// could have more than `maxOutputPixels`.
  ///
  /// The pixel limit applies only to output that can be larger than its source: padded or enlarged. All other output
  /// has at most as many pixels as its source, which ``Renderer/maxPixels`` limits.
  func check(maxOutputPixels: Int) throws(ImageError) {
    guard (1...8).contains(scale) else { throw ImageError(.badSpec, "The scale is \(scale); it must be 1 to 8.") }
    let sides = 1...Self.largestSide / scale
    guard sides.contains(box.width), sides.contains(box.height) else {
      throw ImageError(
        .badSpec, "The size is \(box) at scale \(scale); each side must be 1 to \(Self.largestSide) pixels.")
    }
    guard (1...100).contains(quality) else {
      throw ImageError(.badSpec, "The quality is \(quality); it must be 1 to 100.")
    }
    if let trait = format.missingTrait {
      throw ImageError(.badSpec, "The output format \(format.rawValue) needs a build with the package trait \(trait).")
    }
    guard format != .placeholder || max(pixelBox.width, pixelBox.height) <= ThumbHash.longestSide else {
      let limit = ThumbHash.longestSide
      throw ImageError(.badSpec, "The size is \(pixelBox); in placeholders, each side must be at most \(limit) pixels.")
    }
    let needsWebP = format == .webp || format == .smallest
    guard !needsWebP || max(pixelBox.width, pixelBox.height) <= Self.longestWebPSide else {
      throw ImageError(.badSpec, Self.tooLongForWebP(pixelBox))
    }
    let isBounded = fit != .pad && enlargement == .never
    guard format != .avif || isBounded || pixelBox.area <= AVIFEncoder.maxPixels else {
      throw ImageError(.badSpec, Self.tooLargeForAVIF(pixelBox))
    }
    guard isBounded || pixelBox.area <= maxOutputPixels else {
      throw ImageError(
        .badSpec, "A thumbnail of \(pixelBox) exceeds the limit of \(maxOutputPixels) pixels.")
    }
  }

  /// Returns the message for a size that is too large for AVIF.
  static func tooLargeForAVIF(_ size: PixelSize) -> String {
    "The size is \(size); in AVIF, a thumbnail has at most \(AVIFEncoder.maxPixels) pixels."
  }

  /// Returns the message for a size that WebP does not allow.
  static func tooLongForWebP(_ size: PixelSize) -> String {
    "The size is \(size); in WebP, each side must be at most \(longestWebPSide) pixels."
  }
}
