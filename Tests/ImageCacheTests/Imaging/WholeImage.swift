import CImage

@testable import ImageCache

/// Collects the rows of an image.
final class WholeImage: RowSink {
  /// The part that is requested; nil for all of it.
  private let part: CImageArea?
  private(set) var shape = DecodedShape(layout: .gray, planes: [])
  /// The samples of the rows so far, by plane. Omitted rows are 0.
  private(set) var samples: [[UInt8]] = []

  init(part: CImageArea? = nil) { self.part = part }

  var size: PixelSize { shape.planes[0].size }

  func begin(_ shape: DecodedShape) {
    self.shape = shape
    samples = shape.planes.map { _ in [] }
  }

  func needed(ofPlane index: Int) -> CImageArea {
    let size = shape.planes[index].size
    let whole = CImageArea(left: 0, top: 0, right: Int32(size.width), bottom: Int32(size.height))
    guard let part else { return whole }
    return CImageArea(
      left: min(part.left, whole.right - 1), top: min(part.top, whole.bottom - 1), right: min(part.right, whole.right),
      bottom: min(part.bottom, whole.bottom))
  }

  func skip(_ counts: [Int]) {
    for (index, count) in counts.enumerated() {
      samples[index] += Array(repeating: 0, count: count * shape.planes[index].size.width * shape.layout.channels)
    }
  }

  /// Takes rows, which may have a few more columns than the image.
  func take(_ rows: [CImageBitmap]) {
    for (index, rows) in rows.enumerated() {
      for row in 0..<Int(rows.height) {
        let count = shape.planes[index].size.width * shape.layout.channels
        samples[index] += UnsafeBufferPointer(start: rows.pixels + row * rows.stride, count: count)
      }
    }
  }

  /// Returns the samples of a plane in an area, row by row.
  func samples(ofPlane index: Int, in area: CImageArea) -> [ArraySlice<UInt8>] {
    let (width, channels) = (shape.planes[index].size.width, shape.layout.channels)
    return (Int(area.top)..<Int(area.bottom)).map { row in
      samples[index][(row * width + Int(area.left)) * channels..<(row * width + Int(area.right)) * channels]
    }
  }
}
