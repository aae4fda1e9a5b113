import CImage

/// Scales one plane of an image to any number of sizes while it is decoded.
final class PlaneScaler {
  private let shape: PlaneShape
  private let channels: Int
  private let scalers: [Scaler]
  /// Scales the plane at half its size.
  private let half: HalfPlaneScaler?
  private var window: RowWindow?
  /// The number of rows so far.
  private var count = 0

  /// Creates a scaler for a plane of this shape.
  init(_ shape: PlaneShape, channels: Int, scalers: [Scaler], half: HalfPlaneScaler? = nil) {
    (self.shape, self.channels, self.scalers, self.half) = (shape, channels, scalers, half)
  }

  /// The part of the plane that is needed.
  var needed: CImageArea { scalers.map(\.needed).reduce(half?.needed ?? .nothing) { $0.union($1) } }

  /// Omits the next rows, none of which is needed.
  func skip(_ count: Int) { self.count += count }

  /// Takes the next rows; those after the end of the plane are ignored. `prepare` may change a copy of them before they
  /// are scaled.
  func take(_ rows: CImageBitmap, prepare: ((CImageBitmap) -> Void)?) throws(ImageError) {
    let height = min(Int(rows.height), shape.size.height - count)
    // The rows after the last one that is needed may follow a gap.
    guard firstRow != .max else { return skip(height) }
    if count == 0 && height == shape.size.height && prepare == nil {
      count = height
      return try advance(rows.rows(from: 0, count: height), first: 0)
    }
    var taken = 0
    while taken < height {
      let window = try rowWindow()
      window.discard(before: firstRow)
      let added = window.append(height - taken)
      rows.copy(from: taken, to: added)
      prepare?(added)
      taken += Int(added.height)
      count += Int(added.height)
      try advance(window.rows, first: window.first)
    }
  }

  /// True if there is at least one row, even if it was omitted.
  var hasRows: Bool { count > 0 }

  /// Supplies the missing rows, all samples of which are `sample`.
  func fillMissingRows(with sample: UInt8) throws(ImageError) {
    let missing = shape.size.height - count
    guard missing > 0 else { return }
    let window = try RowWindow(first: 0, width: shape.size.width, channels: channels, capacity: min(missing, 16))
    let strip = window.append(16)
    strip.pixels.update(repeating: sample, count: strip.stride * Int(strip.height))
    while count < shape.size.height { try take(strip, prepare: nil) }
  }

  /// The number of the first row that is still needed.
  private var firstRow: Int { min(scalers.map(\.firstRow).min() ?? .max, half?.firstRow ?? .max) }

  private func advance(_ rows: CImageBitmap, first: Int) throws(ImageError) {
    for scaler in scalers { scaler.advance(rows, first: first) }
    try half?.advance(rows, first: first)
  }

  /// Returns the window, which is created when it is first needed. It has twice the rows that are needed, so that they
  /// are rarely moved.
  private func rowWindow() throws(ImageError) -> RowWindow {
    if let window { return window }
    let needed = max(scalers.map(\.rowCount).max() ?? 0, half == nil ? 0 : 2)
    let window = try RowWindow(
      first: count, width: shape.size.width, channels: channels, capacity: min(shape.size.height, 2 * needed + 16))
    self.window = window
    return window
  }
}
