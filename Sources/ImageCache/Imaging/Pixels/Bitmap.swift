/// Samples and the memory they live in: one owner, freed with it, never copied by accident.
struct Bitmap: ~Copyable {
  /// What the samples are.
  let layout: PixelLayout
  /// One plane with all samples of a pixel side by side; for ``PixelLayout/planes`` luma and two of chroma.
  let planes: [Plane]
  private let memory: UnsafeMutablePointer<UInt8>

  /// The columns and rows of the first plane.
  var size: PixelSize { planes[0].size }

  /// Memory of `capacity` bytes with undefined content, in which `arrange` places the planes. Every producer fills all
  /// of them or fails. Throws `outOfMemory`, as all initializers do, where there is not as much.
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

  /// Memory for pixels of `size`, each side at least 1, that show `area` of the picture; by default all of one that is
  /// as large.
  init(size: PixelSize, layout: PixelLayout, showing area: PixelBox? = nil) throws(ImageError) {
    try self.init(layout: layout, planes: [(size, area ?? PixelBox(size: size))])
  }

  /// Memory for planes of these sizes, without gaps between their rows.
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
