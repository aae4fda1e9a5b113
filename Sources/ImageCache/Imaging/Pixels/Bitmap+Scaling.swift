import CImage

extension Bitmap {
  /// What is seen of a picture, and how large: for each plane its size and the part of the stored picture it shows.
  typealias Shape = (size: PixelSize, area: PixelBox)

  /// A bitmap of the same layout with one plane for each shape. Alpha must be premultiplied where perceptual numbers
  /// are mixed, and straight where light is.
  func scaled(
    to shapes: [Shape], filter: ThumbnailSpec.Filter, in light: ThumbnailSpec.Light, kernels: KernelCache
  ) throws(ImageError) -> Bitmap {
    let scaled = Bitmap(layout: layout, planes: shapes)
    let resize = light == .linear ? cimage_resize_linear : cimage_resize
    for (source, target) in zip(planes, scaled.planes) {
      let across = try kernels.kernel(
        for: Kernel.Key(
          filter, of: source.size.width, source.columns(target.area), to: target.size.width))
      let down = try kernels.kernel(
        for: Kernel.Key(
          filter, of: source.size.height, source.rows(target.area), to: target.size.height))
      try CImageCall.run { _ in resize(source.view, across.handle, down.handle, target.view) }
    }
    return scaled
  }

  /// This picture as `orientation` wants it seen.
  consuming func oriented(_ orientation: Orientation) -> Bitmap {
    if orientation == .upright { return self }
    let shapes = planes.map { plane in
      let size = orientation.applied(to: plane.size)
      return (size, PixelBox(size: size))
    }
    let target = Bitmap(layout: layout, planes: shapes)
    for (source, target) in zip(planes, target.planes) {
      cimage_orient(source.view, Int32(orientation.rawValue), target.view)
    }
    return target
  }
}
