/// Samples and the memory that holds them. The single owner frees the memory; accidental copies do not compile.
struct Bitmap: ~Copyable {
  /// The layout of the samples.
  let layout: PixelLayout
  /// One plane of interleaved samples, or for ``PixelLayout/planes`` luma and two chroma planes.
  let planes: [Plane]
  private let memory: UnsafeMutablePointer<UInt8>

  /// The size of the first plane.
  var size: PixelSize { planes[0].size }

  /// Allocates `capacity` bytes with undefined content, in which `arrange` places the planes. `arrange`, or the caller
  /// afterward, must fill all of them. Like all initializers here, throws `outOfMemory` if the allocation fails.
  init(
    layout: PixelLayout, capacity: Int,
    arrange: (UnsafeMutablePointer<UInt8>) throws(ImageError) -> [Plane]
  ) throws(ImageError) {
    let room = try CImageCall.allocate(capacity)
    let arranged: [Plane]
    do throws(ImageError) {
      arranged = try arrange(room)
    } catch {
      CImageCall.free(room)
      throw error
    }
    memory = room
    self.layout = layout
    planes = arranged
  }

  /// Allocates pixels of `size`, each side at least 1, that show `area` of the image. By default the area is that of a
  /// whole image of the same size.
  init(size: PixelSize, layout: PixelLayout, showing area: PixelBox? = nil) throws(ImageError) {
    try self.init(layout: layout, planes: [(size, area ?? PixelBox(size: size))])
  }

  /// Allocates planes of these sizes, without gaps between their rows.
  init(layout: PixelLayout, planes shapes: [(size: PixelSize, area: PixelBox)]) throws(ImageError) {
    let capacity = shapes.reduce(0) { $0 + $1.size.area * layout.channels }
    try self.init(layout: layout, capacity: capacity) { memory in
      var next = memory
      return shapes.map { size, area in
        defer { next += size.area * layout.channels }
        return Plane(
          samples: next, size: size, channels: layout.channels, stride: size.width * layout.channels, area: area)
      }
    }
  }

  deinit { CImageCall.free(memory) }
}
