import CImage

/// A conversion from an ICC profile's colors to sRGB. Immutable.
final class ColorTransform: Sendable {
  /// The C transform. `nonisolated(unsafe)` only because it is a pointer: its memory never changes after `init`, so any
  /// thread may read it.
  nonisolated(unsafe) let handle: OpaquePointer

  /// Creates the conversion for samples of `model`. Returns nil if the profile is sRGB or, with a warning, if it is
  /// malformed or describes another color model. Throws `outOfMemory` if memory runs out.
  static func making(
    _ profile: [UInt8], model: CImageColorModel, warnings: inout [String]
  ) throws(ImageError) -> ColorTransform? {
    var handle: OpaquePointer?
    try CImageCall.run(&warnings) { cimage_transform_create(profile, profile.count, model, &handle, $0) }
    return handle.map(ColorTransform.init)
  }

  /// Creates the conversion of an encoding without a profile. Returns nil if nothing needs conversion or, with a
  /// warning, if the encoding is impossible. Throws `outOfMemory` if memory runs out.
  static func making(
    _ encoding: ColorEncoding, model: CImageColorModel, warnings: inout [String]
  ) throws(ImageError) -> ColorTransform? {
    var handle: OpaquePointer?
    try CImageCall.run(&warnings) { cimage_transform_create_encoded(encoding.view, model, &handle, $0) }
    return handle.map(ColorTransform.init)
  }

  private init(handle: OpaquePointer) { self.handle = handle }

  deinit { cimage_transform_destroy(handle) }

  /// Converts every pixel in place. The rows must have the transform's model.
  func apply(to rows: CImageBitmap) { cimage_transform_apply(handle, rows) }

  /// Converts luma and chroma planes in place. Chroma has the size of luma, or half of it rounded up. The transform's
  /// model must be RGB. Throws `outOfMemory`.
  func apply(toPlanes planes: [Plane]) throws(ImageError) {
    try CImageCall.run { _ in cimage_transform_apply_planes(handle, planes.map(\.view)) }
  }
}

extension CImageColorModel {
  /// Creates the color model of decoded samples. Luma and chroma planes are converted as RGB.
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
