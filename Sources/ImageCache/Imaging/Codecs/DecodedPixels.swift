/// The decoded pixels of a file and their colors.
struct DecodedPixels: ~Copyable {
  /// The samples. Each plane states which area of the stored image it shows, so it may be shrunk or cropped.
  let bitmap: Bitmap
  /// The transform to sRGB; nil if the pixels are in sRGB.
  let colors: ColorTransform?
}
