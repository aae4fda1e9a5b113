import CImage

/// Gets an image from its decoder a few rows at a time, so that no more of them need to be in memory.
protocol RowSink: AnyObject {
  /// Prepares for an image of this shape. Called once, before the first rows.
  func begin(_ shape: DecodedShape) throws(ImageError)

  /// Returns the part of a plane that it needs. Samples in other columns may be undefined, and other rows may be
  /// skipped. Called after ``begin(_:)``.
  func needed(ofPlane index: Int) -> CImageArea

  /// Omits the next rows of each plane.
  func skip(_ counts: [Int])

  /// Takes the next rows of each plane, from top to bottom.
  func take(_ rows: [CImageBitmap]) throws(ImageError)
}

extension RowSink {
  /// Takes a whole image; `colors` is its transform to sRGB, nil if it is in sRGB.
  func take(whole bitmap: borrowing Bitmap, colors: ColorTransform? = nil) throws(ImageError) {
    let planes = bitmap.planes
    try begin(DecodedShape(layout: bitmap.layout, planes: planes.map(\.shape), colors: colors))
    try take(planes.map(\.view))
  }
}
