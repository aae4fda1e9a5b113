import CImage

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
