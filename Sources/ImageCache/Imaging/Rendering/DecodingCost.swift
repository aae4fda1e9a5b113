/// An estimate, from the header alone, of the memory needed to decode an image and render its thumbnails.
struct DecodingCost {
  /// The peak number of bytes, estimated generously.
  let bytes: Int

  /// Estimates the cost of an image decoded with the factor `shrink`, with thumbnails of the sizes `canvases`.
  init(header: ImageHeader, shrink: Int, canvases: [PixelSize]) {
    let decoded = header.storedSize.area / (shrink * shrink) * header.layout.channels
    let coefficients = header.keepsCoefficients ? Self.coefficients(header) : 0
    // Scaled content, oriented content, canvas and a buffer for the file. Thumbnails are rendered one after another,
    // and one made from another has at most a quarter of its pixels.
    let canvas = (canvases.map(\.area).max() ?? 0) * 4 * 5
    bytes = decoded + coefficients + canvas
  }

  /// Returns the maximum number of bytes libjpeg may allocate: twice the coefficients, and 32 MiB for rows and tables.
  static func codecLimit(_ header: ImageHeader) -> Int { (32 << 20) + coefficients(header) * 2 }

  /// Returns the size of all coefficients in bytes: two bytes each, and at most one per pixel and component.
  private static func coefficients(_ header: ImageHeader) -> Int {
    header.storedSize.area * 2 * (header.isCMYK ? 4 : header.layout.channels)
  }
}
