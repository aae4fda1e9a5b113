/// The transform from the stored rows and columns of an image to the displayed ones (EXIF 2.32, tag 0x0112
/// `Orientation`).
enum Orientation: Int, CaseIterable, Sendable {
  case upright = 1
  case mirrored
  case upsideDown
  case flipped
  case transposed
  case turnedRight
  case transversed
  case turnedLeft

  /// True if stored rows are displayed as columns.
  var swapsSides: Bool { rawValue >= 5 }

  /// Converts the stored size of an image to its displayed size, or back.
  func applied(to size: PixelSize) -> PixelSize {
    swapsSides ? PixelSize(width: size.height, height: size.width) : size
  }

  /// Returns the part of the stored image, whose size is `stored`, that is displayed as `box`.
  func stored(_ box: PixelBox, in stored: PixelSize) -> PixelBox {
    let box =
      swapsSides ? PixelBox(left: box.top, top: box.left, right: box.bottom, bottom: box.right) : box
    let (width, height) = (Double(stored.width), Double(stored.height))
    let isReversedAcross = [.mirrored, .upsideDown, .transversed, .turnedLeft].contains(self)
    let isReversedDown = [.flipped, .upsideDown, .transversed, .turnedRight].contains(self)
    return PixelBox(
      left: isReversedAcross ? width - box.right : box.left,
      top: isReversedDown ? height - box.bottom : box.top,
      right: isReversedAcross ? width - box.left : box.right,
      bottom: isReversedDown ? height - box.top : box.bottom)
  }
}
