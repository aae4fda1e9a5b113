/// The size of a plane, and the part of the stored image that it shows.
struct PlaneShape: Hashable {
  /// The number of columns and rows.
  var size: PixelSize
  /// The area that the plane covers, in pixels of the stored image.
  var area: PixelBox

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

  /// The plane at half the size, without an odd last row or column; nil if a side is 1.
  var halved: PlaneShape? {
    guard min(size.width, size.height) >= 2 else { return nil }
    let half = size.divided(by: 2, .down)
    let across = Double(half.width * 2) / Double(size.width), down = Double(half.height * 2) / Double(size.height)
    return PlaneShape(size: half, area: area.stretched(across: across, down: down))
  }

  /// Returns true if this plane has at least four samples per sample of `target` in both directions.
  func isFourTimes(_ target: PlaneShape) -> Bool {
    let (columns, rows) = (columns(target.area), rows(target.area))
    return columns.upperBound - columns.lowerBound >= Double(4 * target.size.width)
      && rows.upperBound - rows.lowerBound >= Double(4 * target.size.height)
  }
}
