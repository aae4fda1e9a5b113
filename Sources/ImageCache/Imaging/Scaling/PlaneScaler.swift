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

  /// Takes the next rows; those after the end of the plane are ignored. `prepare` may change a copy of them before they
  /// are scaled.
  func take(_ rows: CImageBitmap, prepare: ((CImageBitmap) -> Void)?) throws(ImageError) {
    let height = min(Int(rows.height), shape.size.height - count)
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
      width: shape.size.width, channels: channels, capacity: min(shape.size.height, 2 * needed + 16))
    self.window = window
    return window
  }
}
