import CImage

/// The pixels of one file, which can be scaled to any number of sizes.
struct DecodedImage: ~Copyable {
  private let bitmap: Bitmap
  private let header: ImageHeader
  private let transform: ColorTransform?
  private let kernels: KernelCache
  private var isPremultiplied = false
  private var isConverted = false

  private init(
    _ bitmap: consuming Bitmap, _ header: ImageHeader, _ transform: ColorTransform?, _ kernels: KernelCache
  ) {
    self.bitmap = bitmap
    self.header = header
    self.transform = transform
    self.kernels = kernels
  }

  /// Decodes `bytes` according to `plan`.
  static func decoding(
    _ bytes: [UInt8], header: ImageHeader, plan: RenderPlan, caches: RenderingCaches, warnings: inout [String]
  ) throws(ImageError) -> DecodedImage {
    switch header.format {
    case .jpeg: try decodingJPEG(bytes, header, plan, caches, warnings: &warnings)
    case .png: try decodingPNG(bytes, header, caches, warnings: &warnings)
    }
  }

  private static func decodingJPEG(
    _ bytes: [UInt8], _ header: ImageHeader, _ plan: RenderPlan, _ caches: RenderingCaches, warnings: inout [String]
  ) throws(ImageError) -> DecodedImage {
    let model = header.isCMYK ? .CMYK : CImageColorModel(header.layout)
    let transform = try header.assembledProfile(in: bytes, warnings: &warnings).map { profile throws(ImageError) in
      try caches.transforms.transform(of: profile, model: model, warnings: &warnings)
    }
    // CMYK is converted to sRGB during decoding; other colors are converted later, in the smaller thumbnails.
    let (inks, colors) = header.isCMYK ? (transform ?? nil, nil) : (nil, transform ?? nil)
    let decoding = Bitmap.JPEGDecoding(
      header: header, shrink: plan.shrink, memoryLimit: DecodingCost.codecLimit(header), inks: inks)
    if plan.form == .planes, let planes = try Bitmap.decodingJPEGPlanes(bytes, decoding, warnings: &warnings) {
      return DecodedImage(planes, header, colors, caches.kernels)
    }
    return DecodedImage(try .decodingJPEG(bytes, decoding, warnings: &warnings), header, colors, caches.kernels)
  }

  private static func decodingPNG(
    _ bytes: [UInt8], _ header: ImageHeader, _ caches: RenderingCaches, warnings: inout [String]
  ) throws(ImageError) -> DecodedImage {
    var profile: [UInt8]?
    let bitmap = try Bitmap.decodingPNG(bytes, header: header, profile: &profile, warnings: &warnings)
    let transform = try profile.map { profile throws(ImageError) in
      try caches.transforms.transform(of: profile, model: CImageColorModel(header.layout), warnings: &warnings)
    }
    return DecodedImage(bitmap, header, transform ?? nil, caches.kernels)
  }

  /// Renders the thumbnail of `step` and those made from it. The steps of a plan must be rendered in order.
  mutating func render(_ step: RenderPlan.Step, into thumbnails: inout [Int: Thumbnail]) throws(ImageError) {
    prepare(for: step.mixing)
    try render(step, from: bitmap, into: &thumbnails)
  }

  private mutating func prepare(for mixing: Mixing) {
    if mixing == .light && !isConverted {
      transform?.apply(to: bitmap)
      isConverted = true
    }
    if mixing == .numbers && header.layout.hasAlpha && !isPremultiplied {
      bitmap.premultiply()
      isPremultiplied = true
    }
  }

  private func render(
    _ step: RenderPlan.Step, from source: borrowing Bitmap, into thumbnails: inout [Int: Thumbnail]
  ) throws(ImageError) {
    let scaling = Bitmap.Scaling(
      filter: step.spec.filter, light: step.mixing == .light ? .linear : .perceptual, kernels: kernels)
    let content = try source.scaled(to: shapes(of: step, in: source.layout), by: scaling)
    for smaller in step.smaller { try render(smaller, from: content, into: &thumbnails) }
    thumbnails[step.index] = try step.spec.thumbnail(
      of: try finished(content), geometry: step.geometry, sourceFormat: header.format)
  }

  /// Returns the shapes of a thumbnail's planes before the orientation is applied. If the chroma size is rounded up,
  /// the last chroma samples extend past the edge.
  private func shapes(of step: RenderPlan.Step, in layout: PixelLayout) -> [Bitmap.Shape] {
    let (content, crop) = (step.geometry.content, step.geometry.crop)
    let luma = (header.orientation.applied(to: content), header.orientation.stored(crop, in: header.storedSize))
    guard layout == .planes else { return [luma] }
    // A color transform needs whole pixels, so chroma at full resolution.
    let stepSize = transform == nil ? step.spec.chromaStep : 1
    let size = content.divided(by: stepSize, .up)
    let box = crop.stretched(
      across: Double(size.width * stepSize) / Double(content.width),
      down: Double(size.height * stepSize) / Double(content.height))
    let chroma = (header.orientation.applied(to: size), header.orientation.stored(box, in: header.storedSize))
    return [luma, chroma, chroma]
  }

  /// Returns scaled content with straight alpha, in sRGB, with the orientation applied.
  private func finished(_ content: consuming Bitmap) throws(ImageError) -> Bitmap {
    if isPremultiplied { content.unpremultiply() }
    guard !isConverted, let transform else { return try content.oriented(header.orientation) }
    let pixels = content.layout == .planes ? try content.mixed() : content
    transform.apply(to: pixels)
    return try pixels.oriented(header.orientation)
  }
}

extension ImageHeader {
  /// Returns the ICC profile of a JPEG file; nil if the file has none or, with a warning, if it is incomplete or too
  /// large.
  fileprivate func assembledProfile(in bytes: [UInt8], warnings: inout [String]) -> [UInt8]? {
    guard !profile.isEmpty else { return nil }
    let assembled = profile.assembled(from: bytes)
    if assembled == nil { warnings.append("ICC profile ignored: it is incomplete or too large") }
    return assembled
  }
}
