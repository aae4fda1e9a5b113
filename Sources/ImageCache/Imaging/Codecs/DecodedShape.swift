/// The planes and the colors of an image, which its decoder knows before it has the first row.
struct DecodedShape {
  /// The layout of the rows.
  var layout: PixelLayout
  /// The size of each plane, and the area of the stored image that it shows, so it may be shrunk or cropped.
  var planes: [PlaneShape]
  /// The transform to sRGB; nil if the pixels are in sRGB.
  var colors: ColorTransform?
}
