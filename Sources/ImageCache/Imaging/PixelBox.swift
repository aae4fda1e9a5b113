/// A part of a picture, in pixels and fractions of them, from the upper left corner.
struct PixelBox: Hashable, Sendable {
  var left, top, right, bottom: Double

  var width: Double { right - left }
  var height: Double { bottom - top }

  /// The same part of a picture that was made `factor` times smaller.
  func shrunk(by factor: Int) -> PixelBox {
    let factor = Double(factor)
    return PixelBox(left: left / factor, top: top / factor, right: right / factor, bottom: bottom / factor)
  }
}
