/// The header of a JPEG file.
struct JPEGHeader: Sendable {
  /// The properties that every format has.
  var image: ImageHeader
  /// True for a file with several scans, progressive or one component at a time: the decoder holds all coefficients
  /// until the last scan is read.
  var keepsCoefficients = false
  /// True for CMYK and YCCK, which are decoded as RGB.
  var isCMYK = false
  /// The ratio of the chroma spacings in the two directions: 1 for 4:4:4 and 4:2:0, 2 for 4:2:2.
  var chromaStretch = 1
  /// The location of the ICC profile in the file.
  var profile = JPEGProfile()

  /// The size of all coefficients in bytes: two bytes each, and at most one per pixel and component.
  var coefficientBytes: Int { image.storedSize.area * 2 * (isCMYK ? 4 : image.layout.channels) }
}
