extension RenderPlan {
  /// Returns the peak number of bytes that rendering takes besides those of the decoder, estimated generously: windows
  /// on the decoded rows, all scaled content, and for one thumbnail at a time the oriented content, the canvas, smaller
  /// content, a buffer for the file, and what the encoder needs besides.
  func peakBytes(_ decoder: some ImageDecoder) -> Int {
    let steps = allSteps
    let contents = steps.reduce(0) { $0 + $1.geometry.peakArea }
    let largest = steps.map(\.geometry.peakArea).max() ?? 0
    let encoding = steps.map { $0.encoder.peakBytes(forPixels: $0.geometry.canvas.area) }.max() ?? 0
    return (contents + largest * 4) * 4 + encoding + windowBytes(decoder)
  }

  /// The thumbnails, with those that are made from others.
  var allSteps: [Step] { steps.flatMap(\.withSmaller) }

  /// Estimates one window for each way of mixing: twice the rows that are needed at once for 8 rows of a thumbnail,
  /// whose filter reaches over three of them on either side.
  private func windowBytes(_ decoder: some ImageDecoder) -> Int {
    let (size, stored) = (decoder.decodedSize, decoder.header.storedSize)
    let shrink = Double(stored.height) / Double(size.height)
    let reduction = (steps.map(\.geometry.largestReduction).max() ?? 1) / shrink
    let rows = min(Double(size.height), 28 * max(1, reduction) + 16)
    return Int(rows) * size.width * decoder.header.layout.channels * Set(steps.map(\.mixing)).count
  }
}

extension RenderPlan.Step {
  /// This thumbnail and all that are made from it.
  fileprivate var withSmaller: [Self] { [self] + smaller.flatMap(\.withSmaller) }
}

extension FittedGeometry {
  /// The number of pixels of the content or the canvas, whichever has more.
  fileprivate var peakArea: Int { max(content.area, canvas.area) }
}
