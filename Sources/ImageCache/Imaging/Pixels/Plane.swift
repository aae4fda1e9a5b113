/// One plane of a ``Bitmap`` and the part of the image it shows. The bitmap owns the memory.
struct Plane {
  /// The first row.
  let samples: UnsafeMutablePointer<UInt8>
  /// The number of columns and rows.
  let size: PixelSize
  /// The number of interleaved samples per pixel.
  let channels: Int
  /// The number of bytes from one row to the next.
  let stride: Int
  /// The area that the plane covers, in pixels of the stored image.
  let area: PixelBox

  /// Returns the columns that show the box, from left to right.
  func columns(_ box: PixelBox) -> ClosedRange<Double> {
    let density = Double(size.width) / area.width
    return (box.left - area.left) * density...(box.right - area.left) * density
  }

  /// Returns the rows that show the box, from top to bottom.
  func rows(_ box: PixelBox) -> ClosedRange<Double> {
    let density = Double(size.height) / area.height
    return (box.top - area.top) * density...(box.bottom - area.top) * density
  }
}
