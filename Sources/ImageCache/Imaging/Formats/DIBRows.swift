/// The rows of a bitmap that is not compressed, in any order.
struct DIBRows {
  private let header: DIBHeader
  private let channels: Int
  private let colors: [PixelColor]
  private let red, green, blue, alpha: DIBChannel
  /// True if the alpha of the bitmap counts.
  let hasAlpha: Bool

  /// True if the file has all rows. Missing pixels are transparent, or gray if there is no alpha.
  let isComplete: Bool

  /// Prepares to read pixels of `channels` samples. Throws `truncated` if the file has no row.
  ///
  /// - Parameters:
  ///   - header: The header of the bitmap.
  ///   - bytes: The bytes in which the header was read.
  ///   - channels: 3, or 4 to read alpha too.
  init(_ header: DIBHeader, _ bytes: Span<UInt8>, channels: Int) throws(ImageError) {
    guard header.pixelStart + header.usedRowBytes <= bytes.count else { throw DIBHeader.truncated }
    isComplete = header.pixelEnd - header.rowBytes + header.usedRowBytes <= bytes.count
    self.header = header
    self.channels = channels
    colors = header.bitCount <= 8 ? header.palette.colors(bytes) : []
    (red, green, blue) = (
      DIBChannel(header.masks.red), DIBChannel(header.masks.green), DIBChannel(header.masks.blue)
    )
    let alpha = DIBChannel(header.masks.alpha, missing: 255)
    // Many writers do not set alpha, so that all pixels are transparent. Browsers ignore it then.
    hasAlpha = header.masks.alpha != 0 && Self.hasVisiblePixel(header, bytes, alpha)
    self.alpha = hasAlpha ? alpha : DIBChannel(0, missing: 255)
  }

  /// Sets the samples of each pixel of a stored row, from the offset `target` on.
  func read(_ row: Int, from bytes: Span<UInt8>, to samples: inout MutableSpan<UInt8>, at target: Int) {
    let start = header.pixelStart + row * header.rowBytes
    guard start + header.usedRowBytes <= bytes.count else {
      for offset in target..<target + header.size.width * channels { samples[offset] = channels == 4 ? 0 : 128 }
      return
    }
    if header.bitCount <= 8 {
      readIndices(at: start, from: bytes, to: &samples, at: target)
    } else {
      readPixels(at: start, from: bytes, to: &samples, at: target)
    }
  }

  private func readIndices(
    at start: Int, from bytes: Span<UInt8>, to samples: inout MutableSpan<UInt8>, at target: Int
  ) {
    let count = header.bitCount
    let limit = UInt8(1 << count - 1)
    for column in 0..<header.size.width {
      let bit = column * count
      let index = bytes[start + bit >> 3] >> UInt8(8 - count - bit & 7) & limit
      samples.set(colors[Int(index)], at: target + column * channels, channels: channels)
    }
  }

  private func readPixels(
    at start: Int, from bytes: Span<UInt8>, to samples: inout MutableSpan<UInt8>, at target: Int
  ) {
    let step = header.bitCount / 8
    for column in 0..<header.size.width {
      let pixel = Self.pixel(bytes, at: start + column * step, step)
      let color = PixelColor(
        red: red.value(pixel), green: green.value(pixel), blue: blue.value(pixel), alpha: alpha.value(pixel))
      samples.set(color, at: target + column * channels, channels: channels)
    }
  }

  @inline(__always)
  private static func pixel(_ bytes: Span<UInt8>, at offset: Int, _ count: Int) -> UInt32 {
    var pixel = UInt32(bytes[offset]) | UInt32(bytes[offset + 1]) << 8
    if count > 2 { pixel |= UInt32(bytes[offset + 2]) << 16 }
    if count > 3 { pixel |= UInt32(bytes[offset + 3]) << 24 }
    return pixel
  }

  /// Returns true if a pixel is not entirely transparent.
  private static func hasVisiblePixel(_ header: DIBHeader, _ bytes: Span<UInt8>, _ alpha: DIBChannel) -> Bool {
    let step = header.bitCount / 8
    for row in 0..<header.size.height {
      let start = header.pixelStart + row * header.rowBytes
      guard start + header.usedRowBytes <= bytes.count else { break }
      for column in 0..<header.size.width where alpha.value(pixel(bytes, at: start + column * step, step)) != 0 {
        return true
      }
    }
    return false
  }
}

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

/// Walks over rows that are stored as runs (RLE8 and RLE4). A plain value.
struct DIBRunReader {
  /// A step from one pixel to another.
  enum Step {
    /// Pixels that repeat the index in `value`, with 4 bits the two indices in it.
    case run(value: UInt8, count: Int)
    /// Pixels whose indices begin at `offset`.
    case literal(offset: Int, count: Int)
    /// A move without pixels, to the next row or by an offset.
    case move
    /// The end of the bitmap.
    case end
  }

  /// The number of bits per index: 4 or 8.
  let bitCount: Int
  /// The offset of the next step.
  private(set) var offset: Int
  /// The next pixel. The column may be past the end of the row.
  private(set) var row: Int, column: Int

  init(bitCount: Int, offset: Int, row: Int = 0, column: Int = 0) {
    (self.bitCount, self.offset, self.row, self.column) = (bitCount, offset, row, column)
  }

  /// Returns the next step. Throws `truncated` if the file ends before it.
  mutating func next(_ bytes: Span<UInt8>) throws(ImageError) -> Step {
    guard offset <= bytes.count - 2 else { throw DIBHeader.truncated }
    let (first, second) = (Int(bytes[offset]), bytes[offset + 1])
    offset += 2
    if first > 0 {
      column += first
      return .run(value: second, count: first)
    }
    switch second {
    case 0: (row, column) = (row + 1, 0)
    case 1: return .end
    case 2:
      guard offset <= bytes.count - 2 else { throw DIBHeader.truncated }
      column += Int(bytes[offset])
      row += Int(bytes[offset + 1])
      offset += 2
    default: return try literal(Int(second), in: bytes)
    }
    return .move
  }

  /// Skips the indices of `count` pixels, which are padded to an even number of bytes.
  private mutating func literal(_ count: Int, in bytes: Span<UInt8>) throws(ImageError) -> Step {
    let start = offset
    let length = (count * bitCount + 7) / 8
    guard length <= bytes.count - start else { throw DIBHeader.truncated }
    offset += (length + 1) / 2 * 2
    column += count
    return .literal(offset: start, count: count)
  }
}
