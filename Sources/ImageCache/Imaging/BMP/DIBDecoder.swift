/// Decodes the pixels of a bitmap, a few rows at a time.
struct DIBDecoder {
  private let header: DIBHeader
  private let layout: PixelLayout
  /// True if one bit per pixel follows the pixels, which is set if the pixel is transparent, as in icons.
  private let hasMask: Bool

  private static let stripHeight = 16

  /// Creates a decoder of pixels with three or four channels.
  init(_ header: DIBHeader, layout: PixelLayout, hasMask: Bool = false) {
    (self.header, self.layout, self.hasMask) = (header, layout, hasMask)
  }

  /// Some rows, and the locations of runs.
  var peakBytes: Int {
    let runs = header.isRunLength ? header.size.height * MemoryLayout<DIBRunReader?>.stride : 0
    return min(Self.stripHeight, header.size.height) * header.size.width * layout.channels + runs + (64 << 10)
  }

  /// Decodes all rows from top to bottom.
  ///
  /// - Parameters:
  ///   - bytes: The bytes in which the header was read.
  ///   - area: The area of the stored image that the bitmap shows.
  ///   - colors: The transform to sRGB; nil if the pixels are in sRGB.
  ///   - sink: Gets the rows.
  func decode(
    _ bytes: Span<UInt8>, area: PixelBox, colors: ColorTransform? = nil, into sink: some RowSink
  ) throws(ImageError) {
    let plane = PlaneShape(size: header.size, area: area)
    if header.isRunLength {
      let runs = try DIBRuns(header, bytes)
      try sink.begin(DecodedShape(layout: layout, planes: [plane], colors: colors))
      return try pushRows(to: sink) { row, samples, target throws(ImageError) in
        try runs.read(row, from: bytes, to: &samples, at: target)
      }
    }
    let rows = try DIBRows(header, bytes, channels: layout.channels)
    let mask = hasMask && !rows.hasAlpha ? try DIBTransparency(header, bytes) : nil
    try sink.begin(DecodedShape(layout: layout, planes: [plane], colors: colors))
    try pushRows(to: sink) { row, samples, target throws(ImageError) in
      rows.read(row, from: bytes, to: &samples, at: target)
      mask?.apply(row, from: bytes, to: &samples, at: target)
    }
    guard rows.isComplete else { throw DIBHeader.truncated }
  }

  /// Passes all rows to `sink`. `read` sets the samples of a stored row, from an offset on.
  private func pushRows(
    to sink: some RowSink, _ read: (Int, inout MutableSpan<UInt8>, Int) throws(ImageError) -> Void
  ) throws(ImageError) {
    let (width, height) = (header.size.width, header.size.height)
    let strip = try Bitmap(
      size: PixelSize(width: width, height: min(Self.stripHeight, height)), layout: layout)
    for first in stride(from: 0, to: height, by: Self.stripHeight) {
      let count = min(Self.stripHeight, height - first)
      try strip.write { samples throws(ImageError) in
        for row in 0..<count {
          try read(header.storedRow(first + row), &samples, row * width * layout.channels)
        }
      }
      try sink.take([strip.planes[0].view.rows(from: 0, count: count)])
    }
  }
}

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
