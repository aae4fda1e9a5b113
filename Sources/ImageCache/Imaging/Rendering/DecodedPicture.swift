import CImage

/// The pixels of one file, ready to be scaled to any number of sizes.
struct DecodedPicture: ~Copyable {
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

  /// Decodes `bytes` as `plan` says.
  static func decoding(
    _ bytes: [UInt8], header: ImageHeader, plan: RenderPlan, caches: RenderingCaches, warnings: inout [String]
  ) throws(ImageError) -> DecodedPicture {
    switch header.format {
    case .jpeg: try decodingJPEG(bytes, header, plan, caches, warnings: &warnings)
    case .png: try decodingPNG(bytes, header, caches, warnings: &warnings)
    }
  }

  private static func decodingJPEG(
    _ bytes: [UInt8], _ header: ImageHeader, _ plan: RenderPlan, _ caches: RenderingCaches, warnings: inout [String]
  ) throws(ImageError) -> DecodedPicture {
    let model = header.isCMYK ? .CMYK : CImageColorModel(header.layout)
    let transform = try header.assembledProfile(in: bytes, warnings: &warnings).map { profile throws(ImageError) in
      try caches.transforms.transform(of: profile, model: model, warnings: &warnings)
    }
    // Inks are converted while they are decoded, other colors as pixels of the thumbnails.
    let (inks, colors) = header.isCMYK ? (transform ?? nil, nil) : (nil, transform ?? nil)
    let decoding = Bitmap.JPEGDecoding(
      header: header, shrink: plan.shrink, memoryLimit: DecodingCost.codecLimit(header), inks: inks)
    if plan.form == .planes, let planes = try Bitmap.decodingJPEGPlanes(bytes, decoding, warnings: &warnings) {
      return DecodedPicture(planes, header, colors, caches.kernels)
    }
    return DecodedPicture(try .decodingJPEG(bytes, decoding, warnings: &warnings), header, colors, caches.kernels)
  }

  private static func decodingPNG(
    _ bytes: [UInt8], _ header: ImageHeader, _ caches: RenderingCaches, warnings: inout [String]
  ) throws(ImageError) -> DecodedPicture {
    var profile: [UInt8]?
    let bitmap = try Bitmap.decodingPNG(bytes, header: header, profile: &profile, warnings: &warnings)
    let transform = try profile.map { profile throws(ImageError) in
      try caches.transforms.transform(of: profile, model: CImageColorModel(header.layout), warnings: &warnings)
    }
    return DecodedPicture(bitmap, header, transform ?? nil, caches.kernels)
  }

  /// Makes the thumbnail of `step` and those made of it. The steps of a plan must come in its order.
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

  /// What a thumbnail shows, as it is stored. Where chroma does not come out even, its last samples reach past the edge.
  private func shapes(of step: RenderPlan.Step, in layout: PixelLayout) -> [Bitmap.Shape] {
    let (content, crop) = (step.geometry.content, step.geometry.crop)
    let luma = (header.orientation.applied(to: content), header.orientation.stored(crop, in: header.storedSize))
    guard layout == .planes else { return [luma] }
    // Only pixels can be converted: each needs its chroma.
    let stepSize = transform == nil ? step.spec.chromaStep : 1
    let size = content.divided(by: stepSize, .up)
    let box = crop.stretched(
      across: Double(size.width * stepSize) / Double(content.width),
      down: Double(size.height * stepSize) / Double(content.height))
    let chroma = (header.orientation.applied(to: size), header.orientation.stored(box, in: header.storedSize))
    return [luma, chroma, chroma]
  }

  /// A scaled picture with straight alpha, in sRGB, and upright.
  private func finished(_ content: consuming Bitmap) throws(ImageError) -> Bitmap {
    if isPremultiplied { content.unpremultiply() }
    guard !isConverted, let transform else { return try content.oriented(header.orientation) }
    let pixels = content.layout == .planes ? try content.mixed() : content
    transform.apply(to: pixels)
    return try pixels.oriented(header.orientation)
  }
}

extension ImageHeader {
  /// The profile of a JPEG file; nil, with a warning, where parts of it are missing.
  fileprivate func assembledProfile(in bytes: [UInt8], warnings: inout [String]) -> [UInt8]? {
    guard !profile.isEmpty else { return nil }
    let assembled = profile.assembled(from: bytes)
    if assembled == nil { warnings.append("ICC profile ignored: it is incomplete or too large") }
    return assembled
  }
}
