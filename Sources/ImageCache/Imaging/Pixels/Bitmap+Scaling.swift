import CImage

extension Bitmap {
  /// What is seen of a picture, and how large: for each plane its size and the part of the stored picture it shows.
  typealias Shape = (size: PixelSize, area: PixelBox)

  /// How pixels are mixed when they are scaled.
  struct Scaling {
    var filter: ThumbnailSpec.Filter
    var light: ThumbnailSpec.Light
    var kernels: KernelCache
  }

  /// A bitmap of the same layout with one plane for each shape. Alpha must be premultiplied where perceptual numbers
  /// are mixed, and straight where light is.
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

  /// One plane, half as large. The eye sees chroma less sharply than luma, and libjpeg makes it up to four times as
  /// dense as asked for: it is worth a filter only for the last step.
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

  /// This picture as `orientation` wants it seen.
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
  /// Whether there are at least four samples for each of `target`, in both directions.
  fileprivate func isFourTimes(_ target: Plane) -> Bool {
    let (columns, rows) = (columns(target.area), rows(target.area))
    return columns.upperBound - columns.lowerBound >= Double(4 * target.size.width)
      && rows.upperBound - rows.lowerBound >= Double(4 * target.size.height)
  }
}
