/// How much memory one picture takes on its way to its thumbnails, estimated from its header alone.
struct DecodingCost {
  /// Bytes at the peak, rather too many than too few.
  let bytes: Int

  /// A picture decoded `shrink` times smaller, with the sizes of its thumbnails.
  init(header: ImageHeader, shrink: Int, canvases: [PixelSize]) {
    let decoded = header.storedSize.area / (shrink * shrink) * header.layout.channels
    let coefficients = header.keepsCoefficients ? Self.coefficients(header) : 0
    // Scaled, turned, on its canvas, and room for the file: one thumbnail after the other, each at most a quarter of
    // the one it is made of.
    let canvas = (canvases.map(\.area).max() ?? 0) * 4 * 5
    bytes = decoded + coefficients + canvas
  }

  /// What libjpeg may hold: the coefficients of a file in several scans, twice over, and some rows.
  static func codecLimit(_ header: ImageHeader) -> Int { (32 << 20) + coefficients(header) * 2 }

  /// Two bytes each; no colour is sampled more than once a pixel.
  private static func coefficients(_ header: ImageHeader) -> Int {
    header.storedSize.area * 2 * (header.isCMYK ? 4 : header.layout.channels)
  }
}
