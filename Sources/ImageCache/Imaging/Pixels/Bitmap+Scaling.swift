import CImage

extension Bitmap {
  /// The size of a plane and the part of the stored image it shows.
  typealias Shape = (size: PixelSize, area: PixelBox)

  /// The options of a resize.
  struct Scaling {
    var filter: ThumbnailSpec.Filter
    var light: ThumbnailSpec.Light
    var kernels: KernelCache
  }

  /// Returns a bitmap of the same layout with one plane per shape. Alpha must be premultiplied for
  /// ``ThumbnailSpec/Light/perceptual`` and straight for ``ThumbnailSpec/Light/linear``.
  func scaled(to shapes: [Shape], by scaling: Scaling) throws(ImageError) -> Bitmap {
    let scaled = try Bitmap(layout: layout, planes: shapes)
    for (index, target) in scaled.planes.enumerated() {
      if index > 0 && planes[index].isFourTimes(target) {
        try halved(index).scale(0, to: target, by: scaling)
      } else {
        try scale(index, to: target, by: scaling)
      }
    }
    return scaled
  }

  private func scale(_ index: Int, to target: Plane, by scaling: Scaling) throws(ImageError) {
    let source = planes[index]
    let across = try scaling.kernels.kernel(
      for: Kernel.Key(scaling.filter, of: source.size.width, source.columns(target.area), to: target.size.width))
    let down = try scaling.kernels.kernel(
      for: Kernel.Key(scaling.filter, of: source.size.height, source.rows(target.area), to: target.size.height))
    let resize = scaling.light == .linear ? cimage_resize_linear : cimage_resize
    try CImageCall.run { _ in resize(source.view, across.handle, down.handle, target.view) }
  }

  /// Returns one plane at half the size, by plain averaging. libjpeg gives chroma at up to four times the requested
  /// resolution, and the eye sees chroma less sharply than luma, so only the last step is worth a filter.
  private func halved(_ index: Int) throws(ImageError) -> Bitmap {
    let plane = planes[index]
    let size = plane.size.divided(by: 2, .down)
    // An odd last row or column is left out.
    let area = plane.area.stretched(
      across: Double(size.width * 2) / Double(plane.size.width),
      down: Double(size.height * 2) / Double(plane.size.height))
    let half = try Bitmap(size: size, layout: .gray, showing: area)
    cimage_halve(plane.view, half.planes[0].view)
    return half
  }

  /// Returns the bitmap with `orientation` applied.
  consuming func oriented(_ orientation: Orientation) throws(ImageError) -> Bitmap {
    if orientation == .upright { return self }
    let shapes = planes.map { plane in
      let size = orientation.applied(to: plane.size)
      return (size, PixelBox(size: size))
    }
    let target = try Bitmap(layout: layout, planes: shapes)
    for (source, target) in zip(planes, target.planes) {
      cimage_orient(source.view, Int32(orientation.rawValue), target.view)
    }
    return target
  }
}

extension Plane {
  /// Returns true if this plane has at least four samples per sample of `target` in both directions.
  fileprivate func isFourTimes(_ target: Plane) -> Bool {
    let (columns, rows) = (columns(target.area), rows(target.area))
    return columns.upperBound - columns.lowerBound >= Double(4 * target.size.width)
      && rows.upperBound - rows.lowerBound >= Double(4 * target.size.height)
  }
}
