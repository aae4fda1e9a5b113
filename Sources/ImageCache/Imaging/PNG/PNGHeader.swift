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

  /// The gamma of the samples; nil if they are sRGB. A profile takes precedence (PNG Specification, section 4.3).
  var gamma: Double? { isSRGB ? nil : storedGamma }
}
