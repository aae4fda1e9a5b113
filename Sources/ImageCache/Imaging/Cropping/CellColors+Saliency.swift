extension CellColors {
  /// The attention that each cell attracts: edges of luma, colors of skin, and saturated colors, weighed by opacity.
  var saliency: [Float] {
    let (width, height) = (size.width, size.height)
    var scores = Array(repeating: Float(0), count: width * height)
    for row in 0..<height {
      let (above, below) = (max(0, row - 1) * width, min(height - 1, row + 1) * width)
      for column in 0..<width {
        let index = row * width + column
        let (left, right) = (row * width + max(0, column - 1), row * width + min(width - 1, column + 1))
        let around = luma[above + column] + luma[below + column] + luma[left] + luma[right]
        let edge = abs(4 * luma[index] - around)
        let color = Self.colorScore(luma: luma[index], blue: blue[index], red: red[index])
        scores[index] = (min(edge, 1) * Self.edgeWeight + color) * alpha[index]
      }
    }
    return scores
  }

  private static let edgeWeight: Float = 1
  private static let skinWeight: Float = 0.3
  private static let saturationWeight: Float = 0.5

  /// Returns the attention of a color. Skin of all tones lies near one chroma (Chai and Ngan 1999: Cb 77 to 127, Cr 133
  /// to 173). The chroma of dark colors is mostly noise.
  private static func colorScore(luma: Float, blue: Float, red: Float) -> Float {
    let fromSkin = (((blue + 0.1) / 0.1).squared + ((red - 0.1) / 0.08).squared).squareRoot()
    let skin = max(0, 1 - fromSkin)
    let saturation = (blue.squared + red.squared).squareRoot() * 2
    return (skin * skinWeight + saturation * saturationWeight) * min(1, luma * 5)
  }
}
