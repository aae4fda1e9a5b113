import CImage

/// A conversion from an ICC profile's colors to sRGB, made once and then only read.
final class ColorTransform: Sendable {
  /// Unsafe only to the compiler, which sees a pointer: its memory never changes after `init`, so every thread may read it.
  nonisolated(unsafe) let handle: OpaquePointer

  /// The conversion for samples of `model`; nil when the profile is sRGB, and, with a warning, when it is broken or
  /// means something else. Throws `outOfMemory` when there is no memory for it.
  static func making(
    _ profile: [UInt8], model: CImageColorModel, warnings: inout [String]
  ) throws(ImageError) -> ColorTransform? {
    var handle: OpaquePointer?
    try CImageCall.run(&warnings) { cimage_transform_create(profile, profile.count, model, &handle, $0) }
    return handle.map(ColorTransform.init)
  }

  private init(handle: OpaquePointer) { self.handle = handle }

  deinit { cimage_transform_destroy(handle) }

  /// Converts every pixel in place. The bitmap has one plane, of the transform's model.
  func apply(to bitmap: borrowing Bitmap) { cimage_transform_apply(handle, bitmap.planes[0].view) }
}

extension CImageColorModel {
  /// The model of decoded samples. Planes of luma and chroma are converted as RGB.
  init(_ layout: PixelLayout) {
    self =
      switch layout {
      case .gray: .gray
      case .grayAlpha: .grayAlpha
      case .rgb, .planes: .RGB
      case .rgba: .RGBA
      }
  }
}
