import CImage

extension Bitmap {
  /// Returns the bitmap with `orientation` applied.
  consuming func oriented(_ orientation: Orientation) throws(ImageError) -> Bitmap {
    if orientation == .upright { return self }
    let shapes = planes.map { plane in
      let size = orientation.applied(to: plane.size)
      return PlaneShape(size: size, area: PixelBox(size: size))
    }
    let target = try Bitmap(layout: layout, planes: shapes)
    for (source, target) in zip(planes, target.planes) {
      cimage_orient(source.view, Int32(orientation.rawValue), target.view)
    }
    return target
  }
}
