import CImage

/// Decodes the first image of a JPEG file.
struct JPEGDecoder: ImageDecoder {
  let jpeg: JPEGHeader
  /// The factor by which libjpeg shrinks the image while it decodes the DCT blocks: 1, 2, 4 or 8.
  private(set) var shrink = 1
  /// The form of the decoded samples. If the file's color space is not YCbCr, it is decoded into pixels anyway.
  private(set) var form = DecodingDemand.Form.pixels

  /// The maximum number of scans. Real files have about ten.
  private static let maxScans = 100

  var header: ImageHeader { jpeg.image }
  var automaticEncoder: any ImageEncoder.Type { JPEGEncoder.self }

  init(_ jpeg: JPEGHeader) { self.jpeg = jpeg }

  init?(prefix: Span<UInt8>, limits: DecodingLimits) throws(ImageError) {
    guard let jpeg = try JPEGHeaderReader(limits: limits).read(prefix) else { return nil }
    self.init(jpeg)
  }

  mutating func adapt(to demand: DecodingDemand) {
    form = header.layout == .rgb && !jpeg.isCMYK ? demand.form : .pixels
    shrink = JPEGShrink.factor(for: demand.targets, of: header.storedSize, chromaStretch: jpeg.chromaStretch)
  }

  var peakBytes: Int {
    let decoded = header.storedSize.area / (shrink * shrink) * header.layout.channels
    return decoded + (jpeg.keepsCoefficients ? jpeg.coefficientBytes : 0)
  }

  func decode(
    _ file: Span<UInt8>, colors: ColorTransformCache, warnings: inout [String]
  ) throws(ImageError) -> DecodedPixels {
    let transform = try transform(file, colors, warnings: &warnings)
    guard !jpeg.isCMYK else {
      // CMYK is converted to sRGB during decoding; other colors are converted later, in the smaller thumbnails.
      return DecodedPixels(bitmap: try pixels(file, inks: transform, warnings: &warnings), colors: nil)
    }
    if form == .planes, let planes = try planes(file, warnings: &warnings) {
      return DecodedPixels(bitmap: planes, colors: transform)
    }
    return DecodedPixels(bitmap: try pixels(file, inks: nil, warnings: &warnings), colors: transform)
  }

  /// Returns the transform of the file's ICC profile; nil if there is none or, with a warning, if it is incomplete or
  /// too large.
  private func transform(
    _ file: Span<UInt8>, _ colors: ColorTransformCache, warnings: inout [String]
  ) throws(ImageError) -> ColorTransform? {
    guard !jpeg.profile.isEmpty else { return nil }
    guard let profile = jpeg.profile.assembled(from: file) else {
      warnings.append("ICC profile ignored: it is incomplete or too large")
      return nil
    }
    let model = jpeg.isCMYK ? .CMYK : CImageColorModel(header.layout)
    return try colors.transform(of: profile, model: model, warnings: &warnings)
  }

  /// Decodes the file into pixels. Without a transform for its inks, CMYK is converted as if they were ideal.
  private func pixels(
    _ file: Span<UInt8>, inks: ColorTransform?, warnings: inout [String]
  ) throws(ImageError) -> Bitmap {
    let size = header.storedSize.divided(by: shrink, .up)
    // Leave out a last row or column that is partly computed from the encoder's padding.
    let readable = header.storedSize.divided(by: shrink, .down)
    let shown = PixelBox(size: PixelSize(width: readable.width * shrink, height: readable.height * shrink))
    let (options, channels) = (options(inks: inks), header.layout.channels)
    let stride = size.width * channels
    let bitmap = try Bitmap(layout: header.layout, capacity: size.height * stride) { memory in
      [Plane(samples: memory, size: readable, channels: channels, stride: stride, area: shown)]
    }
    let view = CImageBitmap(
      pixels: bitmap.planes[0].samples, width: Int32(size.width), height: Int32(size.height),
      channels: Int32(channels), stride: stride)
    // The decoder holds only the raw handle. Another thread may evict the transform from the cache while this one
    // decodes; this reference keeps it alive.
    try CImageCall.decode(file, &warnings) { bytes, count, messages in
      withExtendedLifetime(inks) { cimage_jpeg_decode(bytes, count, options, view, messages) }
    }
    return bitmap
  }

  /// Decodes the file into its luma and chroma planes, so that JPEG output needs no color conversion. Returns nil if
  /// the file's color space is not YCbCr.
  private func planes(_ file: Span<UInt8>, warnings: inout [String]) throws(ImageError) -> Bitmap? {
    let options = options(inks: nil)
    do throws(ImageError) {
      let capacity = cimage_jpeg_planes_bound(options)
      let bitmap = try Bitmap(layout: .planes, capacity: capacity) { memory throws(ImageError) in
        var planes = Array(repeating: CImagePlane(), count: 3)
        try CImageCall.decode(file, &warnings) { cimage_jpeg_decode_planes($0, $1, options, memory, &planes, $2) }
        return planes.map(Plane.init)
      }
      return bitmap
    } catch  where error.code == .unsupportedFormat {
      return nil
    }
  }

  /// The options as a C structure. libjpeg may allocate twice the coefficients, and 32 MiB for rows and tables.
  private func options(inks: ColorTransform?) -> CImageJPEGDecoding {
    CImageJPEGDecoding(
      width: Int32(header.storedSize.width), height: Int32(header.storedSize.height), shrink: Int32(shrink),
      maxScans: Int32(Self.maxScans), maxMemory: (32 << 20) + jpeg.coefficientBytes * 2, cmyk: inks?.handle)
  }
}

extension Plane {
  fileprivate init(_ plane: CImagePlane) {
    let size = PixelSize(width: Int(plane.samples.width), height: Int(plane.samples.height))
    self.init(
      samples: plane.samples.pixels, size: size, channels: 1, stride: plane.samples.stride,
      area: PixelBox(
        left: 0, top: 0, right: Double(size.width) * plane.stepAcross, bottom: Double(size.height) * plane.stepDown))
  }
}
