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
      try pushRows(to: sink) { row, samples, target in runs.read(row, from: bytes, to: &samples, at: target) }
      guard runs.isComplete else { throw DIBHeader.truncated }
      return
    }
    let rows = try DIBRows(header, bytes, channels: layout.channels)
    let mask = hasMask && !rows.hasAlpha ? try DIBTransparency(header, bytes) : nil
    try sink.begin(DecodedShape(layout: layout, planes: [plane], colors: colors))
    try pushRows(to: sink) { row, samples, target in
      rows.read(row, from: bytes, to: &samples, at: target)
      mask?.apply(row, from: bytes, to: &samples, at: target)
    }
    guard rows.isComplete else { throw DIBHeader.truncated }
  }

  /// Passes all rows to `sink`. `read` sets the samples of a stored row, from an offset on.
  private func pushRows(
    to sink: some RowSink, _ read: (Int, inout MutableSpan<UInt8>, Int) -> Void
  ) throws(ImageError) {
    let (width, height) = (header.size.width, header.size.height)
    let strip = try Bitmap(
      size: PixelSize(width: width, height: min(Self.stripHeight, height)), layout: layout)
    for first in stride(from: 0, to: height, by: Self.stripHeight) {
      let count = min(Self.stripHeight, height - first)
      strip.write { samples in
        for row in 0..<count { read(header.storedRow(first + row), &samples, row * width * layout.channels) }
      }
      try sink.take([strip.planes[0].view.rows(from: 0, count: count)])
    }
  }
}
