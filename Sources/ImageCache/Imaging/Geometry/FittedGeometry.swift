/// The source area, scaled size and canvas of one thumbnail. Pure arithmetic.
struct FittedGeometry: Hashable, Sendable {
  /// The visible part of the source, in pixels of the source as displayed.
  var crop: PixelBox
  /// The size `crop` is scaled to. Each side is at least 1.
  var content: PixelSize
  /// The size of the thumbnail. Larger than `content` only for `pad`.
  var canvas: PixelSize

  /// Fits a source of this size to the box of `spec`. Sides below 1 count as 1.
  init(source: PixelSize, spec: ThumbnailSpec) {
    let source = source.clamped
    let box = spec.pixelBox.clamped
    crop = PixelBox(left: 0, top: 0, right: Double(source.width), bottom: Double(source.height))
    switch spec.fit {
    case .inside:
      content = Self.inside(source, box, spec.enlargement)
      canvas = content
    case .pad:
      content = Self.inside(source, box, spec.enlargement)
      canvas = box
    case .stretch:
      content = spec.enlargement == .allowed ? box : Self.smaller(source, box)
      canvas = content
    case .cover:
      content = spec.enlargement == .allowed ? box : Self.smaller(source, box)
      canvas = content
      // If the box is larger than the source on one side, an image that may not be enlarged keeps its size.
      let keepsSize = spec.enlargement == .never && (box.width > source.width || box.height > source.height)
      crop = keepsSize ? Self.center(content, of: source) : Self.covering(box, in: source)
    }
  }

  /// True if the content differs in size from the part of the source it shows.
  var scales: Bool { Double(content.width) != crop.width || Double(content.height) != crop.height }

  /// The number of source pixels per content pixel, on the side where it is lower. Below 1 if the image is enlarged.
  var reduction: Double { min(crop.width / Double(content.width), crop.height / Double(content.height)) }

  /// The number of source pixels per content pixel, on the side where it is higher.
  var largestReduction: Double { max(crop.width / Double(content.width), crop.height / Double(content.height)) }

  /// The upper left corner of the content on the canvas.
  var origin: (left: Int, top: Int) {
    ((canvas.width - content.width) / 2, (canvas.height - content.height) / 2)
  }

  private static func inside(
    _ source: PixelSize, _ box: PixelSize, _ enlargement: ThumbnailSpec.Enlargement
  ) -> PixelSize {
    if enlargement == .never && source.width <= box.width && source.height <= box.height { return source }
    // One side fills the box; the other is rounded to the nearest pixel and is at least 1.
    if source.width * box.height >= source.height * box.width {
      return PixelSize(width: box.width, height: rounded(source.height * box.width, by: source.width)).clamped
    }
    return PixelSize(width: rounded(source.width * box.height, by: source.height), height: box.height).clamped
  }

  private static func smaller(_ source: PixelSize, _ box: PixelSize) -> PixelSize {
    PixelSize(width: min(source.width, box.width), height: min(source.height, box.height))
  }

  /// The largest centered part of `source` that has the aspect ratio of `box`.
  private static func covering(_ box: PixelSize, in source: PixelSize) -> PixelBox {
    let (width, height) = (Double(source.width), Double(source.height))
    let isWider = source.width * box.height >= source.height * box.width
    let shownWidth = isWider ? height * Double(box.width) / Double(box.height) : width
    let shownHeight = isWider ? height : width * Double(box.height) / Double(box.width)
    let (left, top) = ((width - shownWidth) / 2, (height - shownHeight) / 2)
    return PixelBox(left: left, top: top, right: left + shownWidth, bottom: top + shownHeight)
  }

  /// The centered part of `source` with this size, aligned to whole pixels so that pixels which are not scaled are not
  /// filtered either.
  private static func center(_ size: PixelSize, of source: PixelSize) -> PixelBox {
    let (left, top) = ((source.width - size.width) / 2, (source.height - size.height) / 2)
    return PixelBox(
      left: Double(left), top: Double(top), right: Double(left + size.width), bottom: Double(top + size.height))
  }

  private static func rounded(_ numerator: Int, by denominator: Int) -> Int {
    (2 * numerator + denominator) / (2 * denominator)
  }
}

extension PixelSize {
  /// The size with each side clamped to 1...(1 << 30), so that products do not overflow. No image and no checked spec
  /// has a larger side.
  fileprivate var clamped: PixelSize {
    let sides = 1...(1 << 30)
    return PixelSize(
      width: min(max(width, sides.lowerBound), sides.upperBound),
      height: min(max(height, sides.lowerBound), sides.upperBound))
  }
}
