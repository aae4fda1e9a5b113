import CImage

/// The uniform borders of an image that its thumbnails leave out, one for each tolerance.
///
/// They are known only when every row was seen, so an image whose borders are removed is decoded twice.
final class BorderFinder: RowSink {
  private let storedSize: PixelSize
  private let orientation: Orientation
  private var borders: [Border]
  private var layout = PixelLayout.rgb

  /// Creates a finder for the tolerances of `specs`.
  init(_ header: ImageHeader, specs: [ThumbnailSpec]) {
    (storedSize, orientation) = (header.storedSize, header.orientation)
    borders = Set(specs.compactMap(\.trim)).sorted().map(Border.init)
  }

  /// Returns the part of the displayed image that is left for each tolerance, as parts of its width and height.
  var parts: [Int: TrimmedPart] {
    let pairs = borders.map { ($0.tolerance, TrimmedPart($0.box(in: storedSize), of: storedSize, orientation)) }
    return Dictionary(uniqueKeysWithValues: pairs)
  }

  func begin(_ shape: DecodedShape) throws(ImageError) { layout = shape.layout }

  func needed(ofPlane index: Int) -> CImageArea {
    CImageArea(left: 0, top: 0, right: Int32(storedSize.width), bottom: Int32(storedSize.height))
  }

  func skip(_ counts: [Int]) {}

  func take(_ rows: [CImageBitmap]) throws(ImageError) {
    guard let rows = rows.first else { return }
    for row in 0..<Int(rows.height) {
      let samples = unsafe Span(
        _unsafeStart: rows.pixels + row * rows.stride, count: storedSize.width * layout.channels)
      for index in borders.indices { borders[index].take(samples, layout) }
    }
  }
}

/// The border of one tolerance: what has the color of the first pixel, give or take the tolerance. A plain value.
struct Border {
  /// The largest difference of a sample, 0 to 255.
  let tolerance: Int
  private var background: SIMD4<Int32>?
  /// The rows so far.
  private var rowCount = 0
  /// The rows and columns of what is not the border.
  private var rows, columns: Range<Int>?

  init(tolerance: Int) { self.tolerance = tolerance }

  /// Takes the next row.
  mutating func take(_ samples: Span<UInt8>, _ layout: PixelLayout) {
    defer { rowCount += 1 }
    let count = samples.count / layout.channels
    let background = background ?? Self.pixel(samples, 0, layout)
    self.background = background
    func isBorder(_ x: Int) -> Bool {
      let difference = Self.pixel(samples, x, layout) &- background
      return max(difference.max(), -difference.min()) <= Int32(tolerance)
    }
    guard let first = (0..<count).first(where: { !isBorder($0) }) else { return }
    let known = columns ?? first..<first + 1
    var last = count - 1
    while last >= known.upperBound, isBorder(last) { last -= 1 }
    columns = min(first, known.lowerBound)..<max(last + 1, known.upperBound)
    rows = (rows?.lowerBound ?? rowCount)..<rowCount + 1
  }

  /// Returns the rest of an image of `size`: at least half of each side, and all of an image of one color.
  func box(in size: PixelSize) -> PixelBox {
    guard let rows, let columns else { return PixelBox(size: size) }
    let (across, down) = (Self.atLeastHalf(columns, of: size.width), Self.atLeastHalf(rows, of: size.height))
    return PixelBox(
      left: Double(across.lowerBound), top: Double(down.lowerBound), right: Double(across.upperBound),
      bottom: Double(down.upperBound))
  }

  /// Returns `range`, extended evenly to half of `length` if it is shorter.
  private static func atLeastHalf(_ range: Range<Int>, of length: Int) -> Range<Int> {
    let missing = (length + 1) / 2 - range.count
    guard missing > 0 else { return range }
    let start = min(max(0, range.lowerBound - missing / 2), length - range.count - missing)
    return start..<start + range.count + missing
  }

  /// Returns a pixel whose colors are multiplied by its alpha, so that all transparent ones are equal.
  @inline(__always)
  private static func pixel(_ samples: Span<UInt8>, _ x: Int, _ layout: PixelLayout) -> SIMD4<Int32> {
    let start = x * layout.channels
    func sample(_ channel: Int) -> Int32 { Int32(samples[start + channel]) }
    switch layout {
    case .gray, .planes: return SIMD4(sample(0), 0, 0, 255)
    case .grayAlpha: return SIMD4(sample(0) * sample(1) / 255, 0, 0, sample(1))
    case .rgb: return SIMD4(sample(0), sample(1), sample(2), 255)
    case .rgba:
      let alpha = sample(3)
      return SIMD4(sample(0) * alpha / 255, sample(1) * alpha / 255, sample(2) * alpha / 255, alpha)
    }
  }
}

/// The part of an image that is left without its border, whatever the size at which the image is drawn.
struct TrimmedPart: Hashable, Sendable {
  /// From 0 to 1 across and down the displayed image.
  private let box: PixelBox

  /// Creates the part for a box of the stored image.
  init(_ box: PixelBox, of stored: PixelSize, _ orientation: Orientation) {
    let displayed = orientation.displayed(box, in: stored)
    let size = orientation.applied(to: stored)
    let (width, height) = (Double(size.width), Double(size.height))
    self.box = PixelBox(
      left: displayed.left / width, top: displayed.top / height, right: displayed.right / width,
      bottom: displayed.bottom / height)
  }

  /// The factor by which the whole image is larger, on the side where that is more.
  var enlargement: Double { 1 / min(box.width, box.height) }

  /// Returns the upper left corner and the size in whole pixels of the displayed image.
  func pixels(in size: PixelSize) -> (left: Int, top: Int, size: PixelSize) {
    func place(_ part: Double, _ length: Int) -> Int { Int((part * Double(length)).rounded()) }
    let (left, top) = (place(box.left, size.width), place(box.top, size.height))
    let (right, bottom) = (place(box.right, size.width), place(box.bottom, size.height))
    return (left, top, PixelSize(width: max(1, right - left), height: max(1, bottom - top)))
  }
}
