/// How much memory one picture takes on its way to its thumbnails, estimated from its header alone.
struct DecodingCost {
  /// Bytes at the peak, rather too many than too few.
  let bytes: Int

  /// A picture decoded `shrink` times smaller, with the sizes of its thumbnails.
  init(header: ImageHeader, shrink: Int, canvases: [PixelSize]) {
    let channels = header.isCMYK ? 4 : header.layout.channels
    let area = header.storedSize.area
    let decoded = area / (shrink * shrink) * header.layout.channels
    // libjpeg keeps the coefficients of a file in several scans, two bytes each; no colour is sampled more than once.
    let coefficients = header.isProgressive ? area * 2 * channels : 0
    // Scaled, turned, on its canvas, and room for the file: one thumbnail after the other.
    let canvas = (canvases.map(\.area).max() ?? 0) * 4 * 4
    bytes = decoded + coefficients + canvas
  }
}
