/// The transparent pixels of a bitmap in an icon.
struct DIBTransparency {
  private let start: Int
  private let width: Int
  private let rowBytes: Int

  /// Locates the bits after the pixels. Throws `truncated` if the file ends before them.
  init(_ header: DIBHeader, _ bytes: Span<UInt8>) throws(ImageError) {
    (start, width) = (header.pixelEnd, header.size.width)
    rowBytes = (width + 31) / 32 * 4
    guard start + rowBytes * (header.size.height - 1) + (width + 7) / 8 <= bytes.count else {
      throw DIBHeader.truncated
    }
  }

  /// Makes pixels of a stored row transparent. Each has four samples, from the offset `target` on.
  func apply(_ row: Int, from bytes: Span<UInt8>, to samples: inout MutableSpan<UInt8>, at target: Int) {
    for column in 0..<width where bytes[start + row * rowBytes + column >> 3] << UInt8(column & 7) & 0x80 != 0 {
      samples.set(.transparent, at: target + 4 * column, channels: 4)
    }
  }
}
