import CImage

/// A conversion from an ICC profile's colours to sRGB.
struct ColorTransform: ~Copyable {
  /// What C knows it by.
  let handle: OpaquePointer

  /// A conversion for samples of `model`; nil when the profile is sRGB, and, with a warning, when it is broken or means
  /// something else.
  init?(_ profile: [UInt8], model: CImageColorModel, warnings: inout [String]) {
    var messages = CImageMessages()
    let handle = cimage_transform_create(profile, profile.count, model, &messages)
    messages.appendWarnings(to: &warnings)
    guard let handle else { return nil }
    self.handle = handle
  }

  /// A conversion for pixels of `layout`; nil when the profile is sRGB, and, with a warning, when it is broken or means
  /// something else.
  init?(_ profile: [UInt8], layout: PixelLayout, warnings: inout [String]) {
    let model: CImageColorModel =
      switch layout {
      case .gray: .gray
      case .grayAlpha: .grayAlpha
      case .rgb, .planes: .RGB
      case .rgba: .RGBA
      }
    self.init(profile, model: model, warnings: &warnings)
  }

  deinit { cimage_transform_destroy(handle) }

  /// Converts every pixel in place.
  func apply(to bitmap: borrowing Bitmap) { cimage_transform_apply(handle, bitmap.planes[0].view) }
}
