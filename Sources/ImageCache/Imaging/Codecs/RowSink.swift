import CImage

/// Gets an image from its decoder a few rows at a time, so that no more of them need to be in memory.
protocol RowSink: AnyObject {
  /// Prepares for an image of this shape. Called once, before the first rows.
  func begin(_ shape: DecodedShape) throws(ImageError)

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
