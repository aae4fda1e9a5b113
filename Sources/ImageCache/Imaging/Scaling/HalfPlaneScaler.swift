import CImage

/// Scales a plane of one channel at half its size, by plain averaging.
final class HalfPlaneScaler {
  private let size: PixelSize
  private let scaler: PlaneScaler
  /// The number of half rows so far.
  private var count = 0

  /// Creates a scaler whose source has this size, at least two rows and columns.
  init(size: PixelSize, _ scaler: PlaneScaler) {
    (self.size, self.scaler) = (size, scaler)
    count = Int(scaler.needed.top)
    scaler.skip(count)
  }

  /// The part of the source that is needed.
  var needed: CImageArea { scaler.needed.doubled }

  /// The number of the first row that is still needed.
  var firstRow: Int { count < size.height ? 2 * count : .max }

  /// Takes the rows of the source from number `first` on.
  func advance(_ rows: CImageBitmap, first: Int) throws(ImageError) {
    let added = min((first + Int(rows.height)) / 2, size.height) - count
    guard added > 0 else { return }
    let bitmap = try Bitmap(size: PixelSize(width: size.width, height: added), layout: .gray)
    cimage_halve(rows.rows(from: 2 * count - first, count: 2 * added), bitmap.planes[0].view)
    count += added
    try scaler.take(bitmap.planes[0].view, prepare: nil)
  }
}
