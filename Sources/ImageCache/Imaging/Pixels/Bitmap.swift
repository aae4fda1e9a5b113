/// Samples and the memory that holds them. The single owner frees the memory; accidental copies do not compile.
struct Bitmap: ~Copyable {
  /// The layout of the samples.
  let layout: PixelLayout
  /// One plane of interleaved samples, or for ``PixelLayout/planes`` luma and two chroma planes.
  let planes: [Plane]
  private let memory: UnsafeMutablePointer<UInt8>

  /// The size of the first plane.
  var size: PixelSize { planes[0].size }

  /// Allocates pixels of `size`, each side at least 1, that show a whole image of the same size. Their content is
  /// undefined. Like the other initializer, throws `outOfMemory` if the allocation fails.
  init(size: PixelSize, layout: PixelLayout) throws(ImageError) {
    try self.init(layout: layout, planes: [PlaneShape(size: size, area: PixelBox(size: size))])
  }

  /// Allocates planes of these shapes, without gaps between their rows.
  init(layout: PixelLayout, planes shapes: [PlaneShape]) throws(ImageError) {
    memory = try CImageCall.allocate(shapes.reduce(0) { $0 + $1.size.area * layout.channels })
    self.layout = layout
    var next = memory
    planes = shapes.map { shape in
      defer { next += shape.size.area * layout.channels }
      return Plane(samples: next, shape: shape, channels: layout.channels)
    }
  }

  deinit { CImageCall.free(memory) }
}
