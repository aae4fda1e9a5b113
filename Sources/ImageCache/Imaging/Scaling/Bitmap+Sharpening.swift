/// Sharpening of scaled pixels.
extension Bitmap {
  /// Returns the bitmap with the difference of each sample from the mean of its eight neighbors raised by `percent`.
  /// At 33, it is the mask that vipsthumbnail applied to every thumbnail before version 8.5. Only the luma of planes
  /// changes. A neighbor counts by its alpha, so that the colors of transparent pixels do not show.
  consuming func sharpened(by percent: Int) throws(ImageError) -> Bitmap {
    if percent == 0 { return self }
    let target = try Bitmap(layout: layout, planes: planes.map(\.shape))
    for (index, (source, plane)) in zip(planes, target.planes).enumerated() {
      plane.samples.update(from: source.samples, count: source.size.height * source.stride)
      if index == 0 { Sharpening(source, layout, percent).apply(to: plane) }
    }
    return target
  }
}

/// The 3x3 mask on one plane. Beyond an edge, its pixels are repeated.
private struct Sharpening {
  private let source: Plane
  private let colors: Int
  private let hasAlpha: Bool
  private let percent: Int

  init(_ source: Plane, _ layout: PixelLayout, _ percent: Int) {
    (self.source, self.percent, hasAlpha) = (source, percent, layout.hasAlpha)
    colors = layout.channels - (layout.hasAlpha ? 1 : 0)
  }

  func apply(to target: Plane) {
    for y in 0..<source.size.height {
      for x in 0..<source.size.width {
        let start = y * source.stride + x * source.channels
        let neighbors = neighbors(x, y)
        for channel in 0..<colors { target.samples[start + channel] = sample(start + channel, channel, neighbors) }
      }
    }
  }

  /// Returns the offsets of the pixels around a pixel, and their sum of alpha.
  private func neighbors(_ x: Int, _ y: Int) -> (rows: SIMD3<Int>, columns: SIMD3<Int>) {
    let (lastColumn, lastRow) = (source.size.width - 1, source.size.height - 1)
    let rows = SIMD3(max(0, y - 1), y, min(lastRow, y + 1)) &* source.stride
    return (rows, SIMD3(max(0, x - 1), x, min(lastColumn, x + 1)) &* source.channels)
  }

  /// Returns the new value of the sample at `offset`.
  private func sample(_ offset: Int, _ channel: Int, _ neighbors: (rows: SIMD3<Int>, columns: SIMD3<Int>)) -> UInt8 {
    let own = Int(source.samples[offset])
    var (difference, weights) = (0, 0)
    for row in 0..<3 {
      for column in 0..<3 where row != 1 || column != 1 {
        let pixel = neighbors.rows[row] + neighbors.columns[column]
        let weight = hasAlpha ? Int(source.samples[pixel + colors]) : 1
        difference += weight * (own - Int(source.samples[pixel + channel]))
        weights += weight
      }
    }
    guard weights > 0 else { return UInt8(own) }
    let (change, divisor) = (percent * difference, 100 * weights)
    let rounded = (2 * abs(change) + divisor) / (2 * divisor)
    return UInt8(min(max(change < 0 ? own - rounded : own + rounded, 0), 255))
  }
}
