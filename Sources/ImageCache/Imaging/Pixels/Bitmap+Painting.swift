import CImage

/// What is done to pixels, whose samples stand side by side.
extension Bitmap {
  /// Multiplies colour with alpha in place, so that mixing pixels weighs them by what is seen of them.
  func premultiply() { _ = cimage_premultiply(planes[0].view) }

  /// Undoes ``premultiply()``.
  func unpremultiply() { cimage_unpremultiply(planes[0].view) }

  /// The RGB of luma and two planes of chroma that are as large.
  func mixed() throws(ImageError) -> Bitmap {
    let target = try Bitmap(size: size, layout: .rgb)
    cimage_mix_planes(planes.map(\.view), target.planes[0].view)
    return target
  }

  /// Fills every pixel with one sample a channel.
  func fill(_ sample: [UInt8]) { cimage_fill(planes[0].view, sample) }

  /// Draws `other`, which lies wholly inside, with its upper left corner at a pixel.
  func draw(_ other: borrowing Bitmap, left: Int, top: Int) {
    cimage_draw(other.planes[0].view, planes[0].view, Int32(left), Int32(top))
  }
}
