/// The size at which an image is drawn that can have any.
struct VectorSize {
  /// The size that the image declares. Only its proportions count.
  let declared: PixelSize
  /// The maximum number of pixels.
  let maxPixels: Int

  /// The maximum length of a side, which cairo has.
  private static let longestSide = 32767.0

  /// Returns the smallest size with the proportions of the image that is large enough for all thumbnails.
  func size(for specs: [ThumbnailSpec]) -> PixelSize {
    let scale = specs.map(scale).max() ?? 1
    let (width, height) = (Double(declared.width) * scale, Double(declared.height) * scale)
    let reduction = max(
      1, (width * height / Double(maxPixels)).squareRoot(), max(width, height) / Self.longestSide)
    return PixelSize(width: Self.pixels(width / reduction), height: Self.pixels(height / reduction))
  }

  /// The factor by which the image fills the box of a thumbnail: it touches it if it must fit inside, and otherwise
  /// covers it.
  private func scale(for spec: ThumbnailSpec) -> Double {
    let box = spec.pixelBox
    let factors = [Double(box.width) / Double(declared.width), Double(box.height) / Double(declared.height)]
    switch spec.fit {
    case .inside, .pad: return factors.min() ?? 1
    case .cover, .stretch: return factors.max() ?? 1
    }
  }

  private static func pixels(_ length: Double) -> Int { max(1, Int(length.rounded())) }
}
