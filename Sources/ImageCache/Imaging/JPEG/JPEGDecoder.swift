import CImage

/// Decodes the first image of a JPEG file.
struct JPEGDecoder: FileDecoder {
  let jpeg: JPEGHeader
  /// The factor by which libjpeg shrinks the image while it decodes the DCT blocks: 1, 2, 4 or 8.
  private(set) var shrink = 1
  /// The form of the decoded samples. If the file's color space is not YCbCr, it is decoded into pixels anyway.
  private(set) var form = DecodingDemand.Form.pixels

  /// The maximum number of scans. Real files have about ten.
  private static let maxScans = 100

  var header: ImageHeader { jpeg.image }

  func automaticEncoder(for spec: ThumbnailSpec) -> any ImageEncoder { JPEGEncoder(spec) }

  init(_ jpeg: JPEGHeader) { self.jpeg = jpeg }

  init?(prefix: Span<UInt8>, limits: DecodingLimits) throws(ImageError) {
    guard let jpeg = try JPEGHeaderReader(limits: limits).read(prefix) else { return nil }
    self.init(jpeg)
  }

  mutating func adapt(to demand: DecodingDemand) {
    form = header.layout == .rgb && !jpeg.isCMYK ? demand.form : .pixels
    shrink = JPEGShrink.factor(for: demand.targets, of: header.storedSize, chromaStretch: jpeg.chromaStretch)
  }

  var decodedSize: PixelSize { header.storedSize.divided(by: shrink, .up) }

  /// A few rows, and the coefficients of a file with several scans.
  var peakBytes: Int {
    let rows = decodedSize.width * header.layout.channels * 64
    return rows + (jpeg.keepsCoefficients ? jpeg.coefficientBytes : 0)
  }

  func decode(
    _ file: Span<UInt8>, colors: ColorTransformCache, into sink: some RowSink, warnings: inout [String]
  ) throws(ImageError) {
    let transform = try transform(file, colors, warnings: &warnings)
    if form == .planes, try decodePlanes(file, transform, into: sink, warnings: &warnings) { return }
    try decodePixels(file, transform, into: sink, warnings: &warnings)
  }

  /// Returns the transform of the file's ICC profile or, for CMYK without a usable one, of the inks in `colors`.
  private func transform(
    _ file: Span<UInt8>, _ colors: ColorTransformCache, warnings: inout [String]
  ) throws(ImageError) -> ColorTransform? {
    if let own = try ownTransform(file, colors, warnings: &warnings) { return own }
    guard jpeg.isCMYK, let inks = colors.inks else { return nil }
    return try colors.transform(of: .profile(inks.bytes), model: .CMYK, warnings: &warnings)
  }

  /// Returns the transform of the file's ICC profile; nil if there is none or, with a warning, if it is incomplete or
  /// too large.
  private func ownTransform(
    _ file: Span<UInt8>, _ colors: ColorTransformCache, warnings: inout [String]
  ) throws(ImageError) -> ColorTransform? {
    guard !jpeg.profile.isEmpty else { return nil }
    guard let profile = jpeg.profile.assembled(from: file) else {
      warnings.append("ICC profile ignored: it is incomplete or too large")
      return nil
    }
    let model = jpeg.isCMYK ? .CMYK : CImageColorModel(header.layout)
    return try colors.transform(of: .profile(profile), model: model, warnings: &warnings)
  }

  /// Decodes the file into pixels. CMYK is converted to sRGB at once, with ideal inks if there is no transform; other
  /// colors are converted later, in the smaller thumbnails.
  private func decodePixels(
    _ file: Span<UInt8>, _ transform: ColorTransform?, into sink: some RowSink, warnings: inout [String]
  ) throws(ImageError) {
    let inks = jpeg.isCMYK ? transform : nil
    // Leave out a last row or column that is partly computed from the encoder's padding.
    let size = header.storedSize.divided(by: shrink, .down)
    let shown = PixelBox(size: PixelSize(width: size.width * shrink, height: size.height * shrink))
    try sink.begin(
      DecodedShape(
        layout: header.layout, planes: [PlaneShape(size: size, area: shown)], colors: jpeg.isCMYK ? nil : transform))
    let (options, target) = (options(inks: inks), CImageSink(sink))
    // The decoder holds only raw handles. Another thread may evict the transform from the cache while this one decodes;
    // this reference keeps it alive.
    try CImageCall.decode(file, &warnings) { bytes, count, messages in
      withExtendedLifetime((inks, target)) { cimage_jpeg_decode(bytes, count, options, target.pixels, messages) }
    }
  }

  /// Decodes the file into its luma and chroma planes, so that JPEG output needs no color conversion. Returns false if
  /// the file's color space is not YCbCr.
  private func decodePlanes(
    _ file: Span<UInt8>, _ transform: ColorTransform?, into sink: some RowSink, warnings: inout [String]
  ) throws(ImageError) -> Bool {
    let options = options(inks: nil)
    let target = CImageSink(sink, colors: transform)
    do throws(ImageError) {
      try CImageCall.decode(file, &warnings) { bytes, count, messages in
        withExtendedLifetime(target) {
          cimage_jpeg_decode_planes(bytes, count, options, target.planes, messages)
        }
      }
      return true
    } catch  where error.code == .unsupportedFormat {
      return false
    }
  }

  /// The options as a C structure. libjpeg may allocate twice the coefficients, and 32 MiB for rows and tables.
  private func options(inks: ColorTransform?) -> CImageJPEGDecoding {
    CImageJPEGDecoding(
      width: Int32(header.storedSize.width), height: Int32(header.storedSize.height),
      channels: Int32(header.layout.channels), shrink: Int32(shrink), maxScans: Int32(Self.maxScans),
      maxMemory: (32 << 20) + jpeg.coefficientBytes * 2, cmyk: inks?.handle)
  }
}
