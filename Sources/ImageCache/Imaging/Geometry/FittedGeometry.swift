/// The source area, scaled size and canvas of one thumbnail. Pure arithmetic.
struct FittedGeometry: Hashable, Sendable {
  /// The visible part of the source, in pixels of the source as displayed.
  var crop: PixelBox
  /// The size `crop` is scaled to. Each side is at least 1.
  var content: PixelSize
  /// The size of the thumbnail. Larger than `content` only for `pad`, and smaller only for a crop of scaled pixels.
  var canvas: PixelSize

  /// Fits a source of this size to the box of `spec`. Sides below 1 count as 1.
  ///
  /// A smart crop is chosen from the scaled pixels of the whole image. If these would be more than `maxContent`, or
  /// a side longer than that of any source, the crop is the middle.
  init(source: PixelSize, spec: ThumbnailSpec, maxContent: Int = .max) {
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
    case .outside:
      content = Self.outside(source, box, spec.enlargement, maxContent)
      canvas = content
    case .cover:
      content = spec.enlargement == .allowed ? box : Self.smaller(source, box)
      canvas = content
      // If the box is larger than the source on one side, an image that may not be enlarged keeps its size.
      let keepsSize = spec.enlargement == .never && (box.width > source.width || box.height > source.height)
      let whole = keepsSize ? source : Self.outside(source, box)
      let mayBeContent = whole.area <= maxContent && max(whole.width, whole.height) <= DecodingLimits.longestSide
      guard spec.gravity == .smart, whole != canvas, mayBeContent else {
        crop = keepsSize ? Self.part(content, of: source, spec.gravity) : Self.covering(box, in: source, spec.gravity)
        return
      }
      content = whole
    }
  }

  /// Fits a part of a source, of which the rest is left out.
  init(source: PixelSize, part: TrimmedPart?, spec: ThumbnailSpec, maxContent: Int = .max) {
    guard let part = part?.pixels(in: source) else {
      self.init(source: source, spec: spec, maxContent: maxContent)
      return
    }
    self.init(source: part.size, spec: spec, maxContent: maxContent)
    crop = crop.moved(right: Double(part.left), down: Double(part.top))
  }

  /// True if the canvas has a border around the content.
  var isPadded: Bool { canvas.width > content.width || canvas.height > content.height }

  /// True if the thumbnail is a part of the content, which is the whole image.
  var cropsContent: Bool { canvas.width < content.width || canvas.height < content.height }

  /// True if the content differs in size from the part of the source it shows.
  var scales: Bool { Double(content.width) != crop.width || Double(content.height) != crop.height }

  /// The number of source pixels per content pixel, on the side where it is lower. Below 1 if the image is enlarged.
  var reduction: Double { min(crop.width / Double(content.width), crop.height / Double(content.height)) }

  /// The number of source pixels per content pixel, on the side where it is higher.
  var largestReduction: Double { max(crop.width / Double(content.width), crop.height / Double(content.height)) }

  /// The upper left corner of the content on the canvas. If only a part of the content is kept, it fills the canvas.
  var origin: (left: Int, top: Int) {
    (max(0, canvas.width - content.width) / 2, max(0, canvas.height - content.height) / 2)
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

  /// The smallest size with the aspect ratio of `source` that covers the box, rounded to the nearest pixel.
  private static func outside(_ source: PixelSize, _ box: PixelSize) -> PixelSize {
    if source.width * box.height >= source.height * box.width {
      return PixelSize(
        width: max(box.width, rounded(source.width * box.height, by: source.height)), height: box.height)
    }
    return PixelSize(width: box.width, height: max(box.height, rounded(source.height * box.width, by: source.width)))
  }

  /// The smallest size that covers the box, or that of the source if it covers the box already and may not be enlarged.
  /// One that would be too long or have too many pixels is the largest that is not.
  private static func outside(
    _ source: PixelSize, _ box: PixelSize, _ enlargement: ThumbnailSpec.Enlargement, _ maxContent: Int
  ) -> PixelSize {
    let isSmaller = source.width < box.width || source.height < box.height
    let whole = enlargement == .never && isSmaller ? source : outside(source, box)
    let longest = ThumbnailSpec.longestWebPSide
    let limit = PixelSize(width: longest, height: longest)
    let fitting = max(whole.width, whole.height) > longest ? inside(source, limit, enlargement) : whole
    guard fitting.area > maxContent else { return fitting }
    let factor = (Double(maxContent) / Double(fitting.area)).squareRoot()
    return PixelSize(width: Int(Double(fitting.width) * factor), height: Int(Double(fitting.height) * factor)).clamped
  }

  /// The largest part of `source` that has the aspect ratio of `box`.
  private static func covering(_ box: PixelSize, in source: PixelSize, _ gravity: Gravity) -> PixelBox {
    let (width, height) = (Double(source.width), Double(source.height))
    let isWider = source.width * box.height >= source.height * box.width
    let shownWidth = isWider ? height * Double(box.width) / Double(box.height) : width
    let shownHeight = isWider ? height : width * Double(box.height) / Double(box.width)
    let (left, top) = gravity.corner(ofWidth: shownWidth, height: shownHeight, in: source)
    return PixelBox(left: left, top: top, right: left + shownWidth, bottom: top + shownHeight)
  }

  /// The part of `source` with this size, aligned to whole pixels so that pixels which are not scaled are not filtered
  /// either.
  private static func part(_ size: PixelSize, of source: PixelSize, _ gravity: Gravity) -> PixelBox {
    let (width, height) = (Double(size.width), Double(size.height))
    let corner = gravity.corner(ofWidth: width, height: height, in: source)
    let (left, top) = (corner.left.rounded(.down), corner.top.rounded(.down))
    return PixelBox(left: left, top: top, right: left + width, bottom: top + height)
  }

  private static func rounded(_ numerator: Int, by denominator: Int) -> Int {
    (2 * numerator + denominator) / (2 * denominator)
  }
}

extension Gravity {
  /// Returns the upper left corner of the part of `source` with this size whose middle is closest to the point. `smart`
  /// counts as the center.
  fileprivate func corner(ofWidth width: Double, height: Double, in source: PixelSize) -> (left: Double, top: Double) {
    var (x, y) = (5000, 5000)
    if case .point(let pointX, let pointY) = aim { (x, y) = (pointX, pointY) }
    return (Self.start(of: width, in: source.width, at: x), Self.start(of: height, in: source.height, at: y))
  }

  private static func start(of length: Double, in whole: Int, at hundredths: Int) -> Double {
    let whole = Double(whole)
    // Rounding can make the part a tiny bit longer than the whole.
    let last = whole - length
    return min(max(min(0, last), whole * (Double(hundredths) / 10_000) - length / 2), max(0, last))
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

/// A rectangle in an image, in possibly fractional pixels from the upper left corner.
struct PixelBox: Hashable, Sendable {
  var left, top, right, bottom: Double

  var width: Double { right - left }
  var height: Double { bottom - top }
}

extension PixelBox {
  /// Creates the box of a whole image of this size.
  init(size: PixelSize) {
    self.init(left: 0, top: 0, right: Double(size.width), bottom: Double(size.height))
  }

  /// Returns this box in another place.
  func moved(right across: Double, down: Double) -> PixelBox {
    PixelBox(left: left + across, top: top + down, right: right + across, bottom: bottom + down)
  }

  /// Returns this box with its width and height multiplied; the upper left corner stays.
  func stretched(across: Double, down: Double) -> PixelBox {
    PixelBox(left: left, top: top, right: left + width * across, bottom: top + height * down)
  }
}

/// A width and a height in pixels.
public struct PixelSize: Hashable, Sendable {
  /// Columns, at least 0.
  public var width: Int
  /// Rows, at least 0.
  public var height: Int

  /// Creates a size of `width` columns and `height` rows.
  public init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  /// The number of pixels, clamped to `Int.max`.
  public var area: Int { width.saturatingProduct(height) }
}

extension Int {
  /// Returns the product, clamped to the range of `Int`.
  func saturatingProduct(_ other: Int) -> Int {
    let (product, isTooLarge) = multipliedReportingOverflow(by: other)
    guard isTooLarge else { return product }
    return (self < 0) == (other < 0) ? .max : .min
  }
}

extension PixelSize {
  /// Returns the size with both sides divided by `divisor`, rounded up for `.up` and down otherwise, and at least 1.
  func divided(by divisor: Int, _ rounding: FloatingPointRoundingRule) -> PixelSize {
    let extra = rounding == .up ? divisor - 1 : 0
    return PixelSize(width: max(1, (width + extra) / divisor), height: max(1, (height + extra) / divisor))
  }
}

extension PixelSize: CustomStringConvertible {
  /// `WIDTHxHEIGHT`, as on the command line and in reports.
  public var description: String { "\(width)x\(height)" }
}
