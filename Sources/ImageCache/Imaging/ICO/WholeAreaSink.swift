import CImage

/// Passes on the rows of one image of a file as those of another, larger one.
final class WholeAreaSink: RowSink {
  private let sink: any RowSink
  private let area: PixelBox

  /// Creates a sink for an image that shows the same as the one of `size`.
  init(_ sink: any RowSink, size: PixelSize) { (self.sink, area) = (sink, PixelBox(size: size)) }

  func begin(_ shape: DecodedShape) throws(ImageError) {
    var shape = shape
    shape.planes = shape.planes.map { PlaneShape(size: $0.size, area: area) }
    try sink.begin(shape)
  }

  func needed(ofPlane index: Int) -> CImageArea { sink.needed(ofPlane: index) }

  func skip(_ counts: [Int]) { sink.skip(counts) }

  func take(_ rows: [CImageBitmap]) throws(ImageError) { try sink.take(rows) }
}
