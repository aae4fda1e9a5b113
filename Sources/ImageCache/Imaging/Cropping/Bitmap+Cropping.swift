import CImage

extension Bitmap {
  /// Returns the part of this size, which is shorter on one side, that attracts the most attention.
  consuming func smartlyCropped(to size: PixelSize) throws(ImageError) -> Bitmap {
    let whole = self.size
    let cells = try CellColors(self)
    let step = layout == .planes && planes[1].size != whole ? 2 : 1
    if size.width < whole.width {
      let profile = SaliencyProfile(cells, along: .across, length: whole.width)
      return try cropped(to: size, left: profile.start(ofWindow: size.width, in: whole.width, step: step), top: 0)
    }
    let profile = SaliencyProfile(cells, along: .down, length: whole.height)
    return try cropped(to: size, left: 0, top: profile.start(ofWindow: size.height, in: whole.height, step: step))
  }

  /// Returns a copy of a part. If there are half as many chroma samples as pixels, `left` and `top` must be even.
  private func cropped(to size: PixelSize, left: Int, top: Int) throws(ImageError) -> Bitmap {
    let steps = planes.map { $0.size == self.size ? 1 : 2 }
    let shapes = steps.map { step in
      let size = size.divided(by: step, .up)
      return PlaneShape(size: size, area: PixelBox(size: size))
    }
    let target = try Bitmap(layout: layout, planes: shapes)
    for ((source, target), step) in zip(zip(planes, target.planes), steps) {
      var part = source.view
      part.pixels += top / step * source.stride + left / step * source.channels
      part.copy(from: 0, to: target.view)
    }
    return target
  }
}
