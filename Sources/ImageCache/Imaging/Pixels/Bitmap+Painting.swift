import CImage

// Operations on interleaved pixels.
extension Bitmap {
  /// Multiplies color by alpha in place, so that averages weigh pixels by their opacity.
  func premultiply() { cimage_premultiply(planes[0].view) }

  /// Undoes ``premultiply()``.
  func unpremultiply() { cimage_unpremultiply(planes[0].view) }

  /// Fills every pixel with the same samples, one per channel.
  func fill(_ sample: [UInt8]) { cimage_fill(planes[0].view, sample) }

  /// The kind of the image, by which an encoder is chosen.
  var content: CImageContent { cimage_content(planes[0].view) }

  /// Sets all samples to the same value.
  func fill(_ sample: UInt8) {
    for plane in planes { plane.samples.update(repeating: sample, count: plane.size.height * plane.stride) }
  }

  /// Draws `other` with its upper left corner at the given pixel. It must fit inside this bitmap. `light` decides how a
  /// background shows through.
  func draw(_ other: borrowing Bitmap, left: Int, top: Int, light: ThumbnailSpec.Light) {
    let mixing: CImageLight = light == .linear ? .linear : .perceptual
    cimage_draw(other.planes[0].view, planes[0].view, Int32(left), Int32(top), mixing)
  }
}
