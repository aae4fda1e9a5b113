/// Decodes one image of an icon or a cursor: the one that fits the thumbnails best, or the largest.
struct ICODecoder: FileDecoder {
  private let directory: ICODirectory
  private let limits: DecodingLimits
  /// The image to decode.
  private(set) var entry: ICOEntry

  /// The size is that of the largest image.
  let header: ImageHeader

  func automaticEncoder(for spec: ThumbnailSpec) -> any ImageEncoder { PNGEncoder(spec) }

  var decodedSize: PixelSize { entry.size }

  /// A PNG file is decompressed as a whole; a bitmap takes a few rows.
  var peakBytes: Int {
    let rows = entry.isPNG ? entry.size.area.saturatingProduct(4) : 16 * entry.size.width * 4
    return rows + 64 * entry.size.width + (64 << 10)
  }

  init?(prefix: Span<UInt8>, limits: DecodingLimits) throws(ImageError) {
    guard let directory = try ICODirectory(prefix) else { return nil }
    try limits.check(directory.largest.size)
    (self.directory, self.limits, entry) = (directory, limits, directory.largest)
    header = ImageHeader(
      format: .ico, storedSize: directory.largest.size, layout: .rgba, warnings: directory.warnings)
  }

  mutating func adapt(to demand: DecodingDemand) { entry = directory.entry(for: demand) }

  func decode(
    _ file: Span<UInt8>, colors: ColorTransformCache, into sink: some RowSink, warnings: inout [String]
  ) throws(ImageError) {
    try decodeEntry(file, colors: colors, into: sink, warnings: &warnings)
    guard directory.end <= file.count else {
      throw ImageError(.truncated, "The icon ends before its last image does.")
    }
  }

  private func decodeEntry(
    _ file: Span<UInt8>, colors: ColorTransformCache, into sink: some RowSink, warnings: inout [String]
  ) throws(ImageError) {
    // The length in the directory may be too short.
    let bytes = file.extracting(min(entry.range.lowerBound, file.count)...)
    if entry.isPNG {
      guard let png = try PNGDecoder(prefix: bytes, limits: limits) else {
        throw ImageError(.truncated, "The icon ends before its image data does.")
      }
      let whole = WholeAreaSink(sink, size: header.storedSize)
      try png.decode(bytes, colors: colors, into: whole, warnings: &warnings)
    } else {
      try decodeBitmap(bytes, into: sink)
    }
  }

  private func decodeBitmap(_ bytes: Span<UInt8>, into sink: some RowSink) throws(ImageError) {
    guard var bitmap = try DIBHeaderReader.read(bytes, at: 0, pixelStart: nil) else { throw DIBHeader.truncated }
    bitmap.size.height /= 2
    try limits.check(bitmap.size)
    guard !bitmap.isRunLength else {
      throw ImageError(.unsupportedFormat, "An icon with run-length encoding is not supported.")
    }
    // The fourth byte of a pixel is alpha in icons, unlike in other bitmaps.
    if bitmap.bitCount == 32 && bitmap.masks == .standard(bitCount: 32) { bitmap.masks.alpha = 0xFF00_0000 }
    let decoder = DIBDecoder(bitmap, layout: .rgba, hasMask: true)
    try decoder.decode(bytes, area: PixelBox(size: header.storedSize), into: sink)
  }
}
