/// Some samples of a ``Bitmap``, and which part of the picture they show. Their memory is the bitmap's.
struct Plane {
  /// The first row.
  let samples: UnsafeMutablePointer<UInt8>
  /// Columns and rows.
  let size: PixelSize
  /// Samples a pixel, side by side.
  let channels: Int
  /// Bytes from one row to the next.
  let stride: Int
  /// What the columns and rows cover, in pixels of the stored picture.
  let area: PixelBox

  /// The columns that cover the part of the picture from `left` to `right`.
  func columns(_ box: PixelBox) -> ClosedRange<Double> {
    let density = Double(size.width) / area.width
    return (box.left - area.left) * density...(box.right - area.left) * density
  }

  /// The rows that cover the part of the picture from top to bottom.
  func rows(_ box: PixelBox) -> ClosedRange<Double> {
    let density = Double(size.height) / area.height
    return (box.top - area.top) * density...(box.bottom - area.top) * density
  }
}
