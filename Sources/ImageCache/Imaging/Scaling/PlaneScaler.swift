import CImage

/// Scales one plane of an image to any number of sizes while it is decoded.
private final class PlaneScaler {
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

/// Scales a plane of one channel at half its size, by plain averaging.
private final class HalfPlaneScaler {
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

/// The way a thumbnail combines the pixels of its source.
enum Mixing: CaseIterable {
  /// Copies pixels.
  case none
  /// Averages linear light. Needs sRGB, so colors are converted first.
  case light
  /// Averages gamma-encoded values. Needs premultiplied alpha, which cannot be undone exactly.
  case numbers

  init(_ geometry: FittedGeometry, _ light: ThumbnailSpec.Light) {
    self = geometry.scales ? (light == .linear ? .light : .numbers) : .none
  }
}

/// Scales an image for all thumbnails that mix its pixels in the same way.
final class MixingGroup {
  private let planes: [PlaneScaler]
  /// Changes rows before they are scaled; nil if they are scaled as they are.
  private let prepare: ((CImageBitmap) -> Void)?

  /// Creates the scalers that fill `outputs` from planes of these shapes.
  init(
    _ outputs: [ScaledPixels], from shapes: [PlaneShape], channels: Int, kernels: KernelCache,
    prepare: ((CImageBitmap) -> Void)? = nil
  ) throws(ImageError) {
    self.prepare = prepare
    var planes: [PlaneScaler] = []
    for (index, shape) in shapes.enumerated() {
      let targets = outputs.map { Target(plane: $0.planes[index], step: $0.step) }
      planes.append(try Self.scaler(of: shape, channels, to: targets, mayHalve: index > 0, kernels))
    }
    self.planes = planes
  }

  /// One plane of a thumbnail.
  private struct Target {
    var plane: Plane
    var step: RenderPlan.Step
  }

  /// Creates the scaler of one plane.
  ///
  /// libjpeg gives chroma at up to four times the requested resolution, and the eye sees chroma less sharply than luma,
  /// so only the last step is worth a filter.
  private static func scaler(
    of shape: PlaneShape, _ channels: Int, to targets: [Target], mayHalve: Bool, _ kernels: KernelCache
  ) throws(ImageError) -> PlaneScaler {
    var scalers: [Scaler] = [], halfScalers: [Scaler] = []
    let half = mayHalve ? shape.halved : nil
    for target in targets {
      if let half, shape.isFourTimes(target.plane.shape) {
        halfScalers.append(try Scaler(from: half, to: target.plane, target.step, kernels))
      } else {
        scalers.append(try Scaler(from: shape, to: target.plane, target.step, kernels))
      }
    }
    guard let half, !halfScalers.isEmpty else { return PlaneScaler(shape, channels: channels, scalers: scalers) }
    let halfScaler = HalfPlaneScaler(size: half.size, PlaneScaler(half, channels: channels, scalers: halfScalers))
    return PlaneScaler(shape, channels: channels, scalers: scalers, half: halfScaler)
  }

  /// Returns the part of a plane that is needed.
  func needed(ofPlane index: Int) -> CImageArea { planes[index].needed }

  /// Omits the next rows of each plane.
  func skip(_ counts: [Int]) {
    for (plane, count) in zip(planes, counts) { plane.skip(count) }
  }

  /// True if there is at least one row.
  var hasRows: Bool { planes.contains(where: \.hasRows) }

  /// Supplies the missing rows, all samples of which are `sample`.
  func fillMissingRows(with sample: UInt8) throws(ImageError) {
    for plane in planes { try plane.fillMissingRows(with: sample) }
  }

  /// Takes the next rows of each plane.
  func take(_ rows: [CImageBitmap]) throws(ImageError) {
    for (plane, rows) in zip(planes, rows) { try plane.take(rows, prepare: prepare) }
  }
}

/// The last rows of a plane that is being decoded: those that a scaler still needs.
private final class RowWindow {
  /// The number of the first row in the window.
  private(set) var first: Int
  /// The number of rows in the window.
  private(set) var count = 0

  private let width: Int
  private let channels: Int
  private let capacity: Int
  private let memory: UnsafeMutablePointer<UInt8>
  /// The position of the first row in memory, in rows.
  private var start = 0

  /// Allocates a window. Throws `outOfMemory` if the allocation fails.
  ///
  /// - Parameters:
  ///   - first: The number of the first row that it will get.
  ///   - width: The number of columns.
  ///   - channels: The number of samples per pixel.
  ///   - capacity: The maximum number of rows.
  init(first: Int, width: Int, channels: Int, capacity: Int) throws(ImageError) {
    (self.first, self.width, self.channels, self.capacity) = (first, width, channels, capacity)
    memory = try CImageCall.allocate(width * channels * capacity)
  }

  deinit { CImageCall.free(memory) }

  /// All rows in the window.
  var rows: CImageBitmap { view(0, count) }

  /// Appends up to `count` rows, and returns them, to be filled by the caller. The window must not be full.
  func append(_ count: Int) -> CImageBitmap {
    precondition(self.count < capacity, "A scaler needs more rows than the window can have.")
    if start + self.count == capacity { moveToStart() }
    let added = min(count, capacity - start - self.count)
    self.count += added
    return view(self.count - added, added)
  }

  /// Removes the rows before the one with this number.
  func discard(before row: Int) {
    let removed = min(max(0, row - first), count)
    first += removed
    start += removed
    count -= removed
  }

  private func moveToStart() {
    let stride = width * channels
    memory.update(from: memory + start * stride, count: count * stride)
    start = 0
  }

  private func view(_ index: Int, _ count: Int) -> CImageBitmap {
    let stride = width * channels
    return CImageBitmap(
      pixels: memory + (start + index) * stride, width: Int32(width), height: Int32(count), channels: Int32(channels),
      stride: stride)
  }
}
