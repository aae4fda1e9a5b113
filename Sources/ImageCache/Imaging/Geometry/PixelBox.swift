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

  /// Returns this box with its width and height multiplied; the upper left corner stays.
  func stretched(across: Double, down: Double) -> PixelBox {
    PixelBox(left: left, top: top, right: left + width * across, bottom: top + height * down)
  }
}
