import CImage

/// A coarse reduction of an image: the mean colors of cells in a grid, as luma and chroma.
struct CellColors {
  /// The size of the grid. The longer side has at most ``maxSide`` cells.
  let size: PixelSize
  /// The size of a cell in pixels. Even if there are half as many chroma samples as pixels, unless a side is 1.
  let cell: PixelSize
  /// The samples of the cells, row by row. Luma and alpha are 0 to 1, chroma is -0.5 to 0.5.
  private(set) var luma: [Float] = []
  private(set) var blue: [Float] = []
  private(set) var red: [Float] = []
  private(set) var alpha: [Float] = []

  private static let maxSide = 64

  /// Averages an image with straight alpha or none.
  init(_ bitmap: borrowing Bitmap) throws(ImageError) {
    let pixels = bitmap.size
    let side = (max(pixels.width, pixels.height) + 2 * Self.maxSide - 1) / (2 * Self.maxSide) * 2
    let cell = PixelSize(width: min(side, pixels.width), height: min(side, pixels.height))
    let size = PixelSize(width: pixels.width / cell.width, height: pixels.height / cell.height)
    (self.cell, self.size) = (cell, size)
    let means = try Bitmap(
      layout: bitmap.layout, planes: bitmap.planes.map { _ in PlaneShape(size: size, area: PixelBox(size: size)) })
    for (source, target) in zip(bitmap.planes, means.planes) {
      let step = source.size == pixels ? 1 : 2
      cimage_average(source.view, Int32(max(1, cell.width / step)), Int32(max(1, cell.height / step)), target.view)
    }
    read(means)
  }

  private mutating func read(_ means: borrowing Bitmap) {
    let (count, channels) = (size.area, means.layout.channels)
    if means.layout == .planes {
      (luma, blue, red) = (
        Self.samples(means.planes[0], 0, count), Self.samples(means.planes[1], 0, count).map { $0 - 0.5 },
        Self.samples(means.planes[2], 0, count).map { $0 - 0.5 }
      )
    } else if means.layout.isGray {
      luma = Self.samples(means.planes[0], 0, count)
      (blue, red) = (Array(repeating: 0, count: count), Array(repeating: 0, count: count))
    } else {
      let colors = (0..<3).map { Self.samples(means.planes[0], $0, count) }
      // JFIF 1.02, page 3.
      luma = (0..<count).map { 0.299 * colors[0][$0] + 0.587 * colors[1][$0] + 0.114 * colors[2][$0] }
      blue = (0..<count).map { (colors[2][$0] - luma[$0]) / 1.772 }
      red = (0..<count).map { (colors[0][$0] - luma[$0]) / 1.402 }
    }
    alpha =
      means.layout.hasAlpha
      ? Self.samples(means.planes[0], channels - 1, count) : Array(repeating: 1, count: count)
  }

  /// Returns the samples of one channel.
  private static func samples(_ plane: Plane, _ channel: Int, _ count: Int) -> [Float] {
    (0..<count).map { Float(plane.samples[$0 * plane.channels + channel]) / 255 }
  }
}
