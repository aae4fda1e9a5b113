/// One plane of a ``Bitmap``, which owns the memory.
struct Plane {
  /// The first row.
  let samples: UnsafeMutablePointer<UInt8>
  /// The size, and the part of the image that the plane shows.
  let shape: PlaneShape
  /// The number of interleaved samples per pixel.
  let channels: Int

  var size: PixelSize { shape.size }
  /// The number of bytes from one row to the next.
  var stride: Int { size.width * channels }
}
