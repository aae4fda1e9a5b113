/// The rows of a bitmap that are stored as runs, in any order. Pixels that the runs skip are transparent.
struct DIBRuns {
  private let width: Int
  private let colors: [PixelColor]
  /// The reader at the first step of each stored row; nil for a row that is skipped.
  private var starts: [DIBRunReader?]
  /// True if the file does not end before the bitmap. Missing pixels are transparent.
  private(set) var isComplete = true

  /// Walks over all steps to find the rows. Throws `truncated` if the file has no step.
  init(_ header: DIBHeader, _ bytes: Span<UInt8>) throws(ImageError) {
    width = header.size.width
    colors = header.palette.colors(bytes)
    starts = Array(repeating: nil, count: header.size.height)
    var reader = DIBRunReader(bitCount: header.bitCount, offset: header.pixelStart)
    starts[0] = reader
    guard header.pixelStart <= bytes.count - 2 else { throw DIBHeader.truncated }
    // The end of the bitmap may be missing after the last pixel.
    while reader.row < starts.count - 1 || reader.row == starts.count - 1 && reader.column < width {
      let row = reader.row
      guard let step = try? reader.next(bytes) else {
        isComplete = false
        return
      }
      if case .end = step { return }
      if reader.row > row && reader.row < starts.count { starts[reader.row] = reader }
    }
  }

  /// Sets the four samples of each pixel of a stored row, from the offset `target` on.
  func read(
    _ row: Int, from bytes: Span<UInt8>, to samples: inout MutableSpan<UInt8>, at target: Int
  ) {
    for index in target..<target + 4 * width { samples[index] = 0 }
    guard var reader = starts[row] else { return }
    while reader.row == row && reader.column < width {
      let column = reader.column
      guard let step = try? reader.next(bytes) else { return }
      switch step {
      case .move: continue
      case .end: return
      case .run(let value, let count):
        for index in 0..<min(count, width - column) {
          set(value, index, reader.bitCount, to: &samples, at: target + 4 * (column + index))
        }
      case .literal(let offset, let count):
        for index in 0..<min(count, width - column) {
          let byte = bytes[offset + index * reader.bitCount / 8]
          set(byte, index, reader.bitCount, to: &samples, at: target + 4 * (column + index))
        }
      }
    }
  }

  /// Sets a pixel to the color whose index is `value`, or with 4 bits the upper or lower half of it in turn.
  @inline(__always)
  private func set(
    _ value: UInt8, _ index: Int, _ bitCount: Int, to samples: inout MutableSpan<UInt8>, at target: Int
  ) {
    let half = index & 1 == 0 ? value >> 4 : value & 0xF
    samples.set(colors[Int(bitCount == 8 ? value : half)], at: target, channels: 4)
  }
}
