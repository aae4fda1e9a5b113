import CImage

extension SourceFormat {
  /// BMP (bitmaps of Windows and OS/2).
  public static let bmp = SourceFormat(rawValue: "bmp", mediaType: "image/bmp")
}

extension BMPDecoder {
  static let format = SourceFormat.bmp

  /// The type of the file, its reserved bytes, and the length of a header. Two letters alone would match any text.
  static let signatures = DIBFields.lengths.map { length in
    FileSignature(
      FileSignature.ascii("BM") + FileSignature.any(4) + [0, 0, 0, 0] + FileSignature.any(4)
        + [UInt8(length), 0, 0, 0])
  }
}

/// Decodes a BMP file.
struct BMPDecoder: FileDecoder {
  let bitmap: DIBHeader
  let header: ImageHeader

  /// JPEG for files without a palette and without alpha, which are usually photos.
  func automaticEncoder(for spec: ThumbnailSpec) -> any ImageEncoder {
    bitmap.bitCount > 8 && !header.layout.hasAlpha ? JPEGEncoder(spec) : PNGEncoder(spec)
  }

  var peakBytes: Int { DIBDecoder(bitmap, layout: header.layout).peakBytes }

  init?(prefix: Span<UInt8>, limits: DecodingLimits) throws(ImageError) {
    // Some writers leave the offset of the pixels 0.
    guard let pixelStart = prefix.uint32(at: 10, .little),
      let bitmap = try DIBHeaderReader.read(prefix, at: 14, pixelStart: pixelStart > 0 ? pixelStart : nil)
    else { return nil }
    try limits.check(bitmap.size)
    self.bitmap = bitmap
    // Rows of runs may skip pixels.
    let hasAlpha = bitmap.isRunLength || bitmap.masks.alpha != 0
    header = ImageHeader(format: .bmp, storedSize: bitmap.size, layout: hasAlpha ? .rgba : .rgb)
  }

  func decode(
    _ file: Span<UInt8>, colors: ColorTransformCache, into sink: some RowSink, warnings: inout [String]
  ) throws(ImageError) {
    var transform: ColorTransform?
    if let profile = profile(of: file, warnings: &warnings) {
      transform = try colors.transform(
        of: .profile(profile), model: CImageColorModel(header.layout), warnings: &warnings)
    }
    let decoder = DIBDecoder(bitmap, layout: header.layout)
    try decoder.decode(file, area: PixelBox(size: bitmap.size), colors: transform, into: sink)
  }

  /// Returns the file's ICC profile; nil, with a warning, if it is incomplete or too large.
  private func profile(of file: Span<UInt8>, warnings: inout [String]) -> [UInt8]? {
    guard let range = bitmap.profile else { return nil }
    guard range.upperBound <= file.count, range.count <= DecodingLimits.maxProfileBytes else {
      warnings.append("ICC profile ignored: it is incomplete or too large")
      return nil
    }
    return range.map { file[$0] }
  }
}

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
    let mask = hasMask && !rows.hasAlpha ? DIBTransparency(header) : nil
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
