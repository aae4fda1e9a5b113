/// The pixels of one file, ready to be scaled to any number of sizes.
struct DecodedPicture: ~Copyable {
  private let bitmap: Bitmap
  private let header: ImageHeader
  private let transform: ColorTransform?
  private let kernels: KernelCache
  private var isPremultiplied = false
  private var isConverted = false

  private init(
    _ bitmap: consuming Bitmap, _ header: ImageHeader, _ transform: consuming ColorTransform?, _ kernels: KernelCache
  ) {
    self.bitmap = bitmap
    self.header = header
    self.transform = transform
    self.kernels = kernels
  }

  /// Decodes `bytes` as `plan` says.
  static func decoding(
    _ bytes: [UInt8], header: ImageHeader, plan: RenderPlan, kernels: KernelCache, warnings: inout [String]
  ) throws(ImageError) -> DecodedPicture {
    switch header.format {
    case .jpeg: try decodingJPEG(bytes, header, plan, kernels, warnings: &warnings)
    case .png: try decodingPNG(bytes, header, kernels, warnings: &warnings)
    }
  }

  private static func decodingJPEG(
    _ bytes: [UInt8], _ header: ImageHeader, _ plan: RenderPlan, _ kernels: KernelCache, warnings: inout [String]
  ) throws(ImageError) -> DecodedPicture {
    let profile = header.profile.isEmpty ? nil : header.profile.assembled(from: bytes)
    if profile == nil && !header.profile.isEmpty {
      warnings.append("ICC profile ignored: it is incomplete or too large")
    }
    let decoding = Bitmap.JPEGDecoding(
      header: header, shrink: plan.shrink, memoryLimit: DecodingCost.codecLimit(header), profile: profile)
    // Inks are converted while they are decoded, other colours as pixels.
    if !header.isCMYK, let profile,
      let transform = ColorTransform(profile, layout: header.layout, warnings: &warnings)
    {
      return DecodedPicture(
        try .decodingJPEG(bytes, decoding, warnings: &warnings), header, transform, kernels)
    }
    if plan.form == .planes, let planes = try Bitmap.decodingJPEGPlanes(bytes, decoding, warnings: &warnings) {
      return DecodedPicture(planes, header, nil, kernels)
    }
    return DecodedPicture(try .decodingJPEG(bytes, decoding, warnings: &warnings), header, nil, kernels)
  }

  private static func decodingPNG(
    _ bytes: [UInt8], _ header: ImageHeader, _ kernels: KernelCache, warnings: inout [String]
  ) throws(ImageError) -> DecodedPicture {
    var profile: [UInt8]?
    let bitmap = try Bitmap.decodingPNG(bytes, header: header, profile: &profile, warnings: &warnings)
    let transform = profile.flatMap { ColorTransform($0, layout: header.layout, warnings: &warnings) }
    return DecodedPicture(bitmap, header, transform, kernels)
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
      of: finished(content), geometry: step.geometry, sourceFormat: header.format)
  }

  /// What a thumbnail shows, as it is stored. Where chroma does not come out even, its last samples reach past the edge.
  private func shapes(of step: RenderPlan.Step, in layout: PixelLayout) -> [Bitmap.Shape] {
    let (content, crop) = (step.geometry.content, step.geometry.crop)
    let luma = (header.orientation.applied(to: content), header.orientation.stored(crop, in: header.storedSize))
    guard layout == .planes else { return [luma] }
    let stepSize = step.spec.chromaStep
    let size = content.divided(by: stepSize, .up)
    let box = crop.stretched(
      across: Double(size.width * stepSize) / Double(content.width),
      down: Double(size.height * stepSize) / Double(content.height))
    let chroma = (header.orientation.applied(to: size), header.orientation.stored(box, in: header.storedSize))
    return [luma, chroma, chroma]
  }

  /// A scaled picture with straight alpha, in sRGB, and upright.
  private func finished(_ content: consuming Bitmap) -> Bitmap {
    if isPremultiplied { content.unpremultiply() }
    if !isConverted { transform?.apply(to: content) }
    return content.oriented(header.orientation)
  }
}
