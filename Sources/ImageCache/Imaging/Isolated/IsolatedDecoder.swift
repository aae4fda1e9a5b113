import CImage

/// Decodes a file of a format that is not trusted, in a process of `thumbs-decode`.
struct IsolatedDecoder: ImageDecoder {
  private let image: IsolatedImage
  private let format: IsolatedFormat
  private(set) var header: ImageHeader

  /// Opens a whole file. Blocks until the process has read the header.
  init(
    _ file: Span<UInt8>, _ format: IsolatedFormat, limits: DecodingLimits, pool: DecoderPool
  ) throws(ImageError) {
    image = try IsolatedImage(file, format, limits: limits, pool: pool)
    self.format = format
    let declared = image.header
    header = ImageHeader(
      format: format.format, storedSize: declared.size, layout: declared.layout, orientation: declared.orientation,
      warnings: declared.warnings)
  }

  /// JPEG for photographs, PNG for images with alpha and for drawings.
  func automaticEncoder(for spec: ThumbnailSpec) -> any ImageEncoder {
    header.layout.hasAlpha ? PNGEncoder(spec) : JPEGEncoder(spec)
  }

  /// Draws a vector image so large that no thumbnail enlarges it.
  mutating func fill(_ specs: [ThumbnailSpec], maxPixels: Int) {
    guard image.header.isVector else { return }
    header.storedSize = VectorSize(declared: image.header.size, maxPixels: maxPixels).size(for: specs)
  }

  /// The pixels. The memory of the process has its own limit.
  var peakBytes: Int { header.storedSize.area * header.layout.channels }

  func decode(
    _ file: Span<UInt8>, colors: ColorTransformCache, into sink: some RowSink, warnings: inout [String]
  ) throws(ImageError) {
    var oddities: [String] = []
    defer { warnings += oddities }
    let plane = PlaneShape(size: header.storedSize, area: PixelBox(size: header.storedSize))
    var lines: [String] = []
    try image.decode(at: header.storedSize, warnings: &lines) { profile, rows throws(ImageError) in
      let transform = try transform(profile, colors, warnings: &oddities)
      try sink.begin(DecodedShape(layout: header.layout, planes: [plane], colors: transform))
      try rows.copy(into: sink)
    }
    oddities += lines
  }

  private func transform(
    _ profile: [UInt8], _ colors: ColorTransformCache, warnings: inout [String]
  ) throws(ImageError) -> ColorTransform? {
    let model = CImageColorModel(header.layout)
    if !profile.isEmpty { return try colors.transform(of: .profile(profile), model: model, warnings: &warnings) }
    guard let encoding = image.header.encoding else { return nil }
    return try colors.transform(of: .encoding(encoding), model: model, warnings: &warnings)
  }
}
