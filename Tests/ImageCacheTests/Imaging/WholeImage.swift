import CImage

@testable import ImageCache

/// Collects the rows of the first plane of an image.
final class WholeImage: RowSink {
  private(set) var layout = PixelLayout.gray
  private(set) var size = PixelSize(width: 0, height: 0)
  private(set) var colors: ColorTransform?
  /// The samples of the rows so far.
  private(set) var samples: [UInt8] = []

  func begin(_ shape: DecodedShape) {
    (layout, size, colors) = (shape.layout, shape.planes[0].size, shape.colors)
  }

  func take(_ rows: [CImageBitmap]) {
    for row in 0..<Int(rows[0].height) {
      let start = rows[0].pixels + row * rows[0].stride
      samples += UnsafeBufferPointer(start: start, count: Int(rows[0].width * rows[0].channels))
    }
  }
}
