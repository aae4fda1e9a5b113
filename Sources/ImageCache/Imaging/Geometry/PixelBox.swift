/// A part of a picture, in pixels and fractions of them, from the upper left corner.
struct PixelBox: Hashable, Sendable {
  var left, top, right, bottom: Double

  var width: Double { right - left }
  var height: Double { bottom - top }
}

extension PixelBox {
  /// All of a picture.
  init(size: PixelSize) {
    self.init(left: 0, top: 0, right: Double(size.width), bottom: Double(size.height))
  }

  /// This part with more at its right and lower sides.
  func stretched(across: Double, down: Double) -> PixelBox {
    PixelBox(left: left, top: top, right: left + width * across, bottom: top + height * down)
  }
}
