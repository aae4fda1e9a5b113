/// An image in an icon, as its own header describes it. The description in the icon's directory is often wrong.
struct ICOEntry: Hashable, Sendable {
  /// The location of the image in the file.
  let range: Range<Int>
  let size: PixelSize
  /// The number of bits per pixel.
  let bitCount: Int
  /// True if the image is a PNG file; otherwise it is a bitmap with a mask.
  let isPNG: Bool

  /// Reads the header of the image at `range`. Returns nil if `file` ends before that.
  init?(_ file: Span<UInt8>, at range: Range<Int>) throws(ImageError) {
    self.range = range
    guard let first = file.uint32(at: range.lowerBound) else { return nil }
    isPNG = first == 0x8950_4E47
    if isPNG {
      guard let described = Self.describePNG(file, at: range.lowerBound) else { return nil }
      (size, bitCount) = described
    } else {
      guard let fields = try DIBFields(file, at: range.lowerBound) else { return nil }
      // The height includes the mask.
      size = PixelSize(width: fields.width, height: abs(fields.height) / 2)
      bitCount = fields.bitCount
    }
    guard size.width > 0, size.height > 0 else {
      throw ImageError(.decodeError, "An image of the icon is empty (\(size)).")
    }
  }

  /// Returns the size and the number of bits per pixel of a PNG file.
  private static func describePNG(_ file: Span<UInt8>, at start: Int) -> (PixelSize, Int)? {
    guard start + 26 <= file.count, let width = file.uint32(at: start + 16), let height = file.uint32(at: start + 20)
    else { return nil }
    let channels =
      switch file[start + 25] {
      case 2: 3
      case 4: 2
      case 6: 4
      default: 1
      }
    return (PixelSize(width: width, height: height), Int(file[start + 24]) * channels)
  }

  /// Returns true if the image is smaller than `other`, or of the same size with fewer bits.
  func isLess(than other: ICOEntry) -> Bool { (size.area, bitCount) < (other.size.area, other.bitCount) }

  /// Returns true if both images have the same aspect ratio, give or take rounding.
  func hasShape(of other: ICOEntry) -> Bool {
    let difference = size.width.saturatingProduct(other.size.height) - size.height.saturatingProduct(other.size.width)
    return abs(difference) <= max(other.size.width, other.size.height)
  }
}
