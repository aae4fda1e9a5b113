import CImage

/// The last rows of a plane that is being decoded: those that a scaler still needs.
final class RowWindow {
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
