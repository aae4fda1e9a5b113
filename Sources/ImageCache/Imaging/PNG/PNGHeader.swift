/// The header of a PNG file.
struct PNGHeader: Sendable {
  /// The properties that every format has.
  var image: ImageHeader
  /// True if the file has an ICC profile, which is compressed.
  var hasProfile = false
  /// True if the pixels are stored in seven passes.
  var isInterlaced = false
  /// True if the file declares that its colors are sRGB.
  var isSRGB = false
  /// The gamma that the file declares; nil if it declares none, or one that no real file has.
  var storedGamma: Double?

  /// The chromaticities that the file declares, with the curve of sRGB.
  var chromaticities: ColorEncoding?
  /// The encoding that the file declares by code points.
  var codePoints: ColorEncoding?

  /// The colors of a file with neither code points nor a profile; nil if they are those of sRGB, but perhaps with
  /// another gamma (PNG Specification, third edition, section 4.3).
  var encoding: ColorEncoding? {
    guard !isSRGB, var encoding = chromaticities, !encoding.hasColorsOfSRGB, !image.layout.isGray else { return nil }
    if let storedGamma { encoding.curve = .power(1 / storedGamma) }
    return encoding
  }

  /// The gamma of the samples; nil if they are sRGB.
  var gamma: Double? { isSRGB ? nil : storedGamma }
}
