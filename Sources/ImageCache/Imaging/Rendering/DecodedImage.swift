/// The pixels of one file, which can be scaled to any number of sizes.
struct DecodedImage: ~Copyable {
  private let pixels: DecodedPixels
  private let header: ImageHeader
  private let kernels: KernelCache
  private var isPremultiplied = false
  private var isConverted = false

  init(_ pixels: consuming DecodedPixels, header: ImageHeader, kernels: KernelCache) {
    self.pixels = pixels
    self.header = header
    self.kernels = kernels
  }

  /// Renders the thumbnail of `step` and those made from it. The steps of a plan must be rendered in order.
  mutating func render(_ step: RenderPlan.Step, into thumbnails: inout [Int: Thumbnail]) throws(ImageError) {
    prepare(for: step.mixing)
    try render(step, from: pixels.bitmap, into: &thumbnails)
  }

  private mutating func prepare(for mixing: Mixing) {
    if mixing == .light && !isConverted {
      pixels.colors?.apply(to: pixels.bitmap)
      isConverted = true
    }
    if mixing == .numbers && header.layout.hasAlpha && !isPremultiplied {
      pixels.bitmap.premultiply()
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
      of: try finished(content), geometry: step.geometry, encoder: step.encoder)
  }

  /// Returns the shapes of a thumbnail's planes before the orientation is applied. If the chroma size is rounded up,
  /// the last chroma samples extend past the edge.
  private func shapes(of step: RenderPlan.Step, in layout: PixelLayout) -> [Bitmap.Shape] {
    let (content, crop) = (step.geometry.content, step.geometry.crop)
    let luma = (header.orientation.applied(to: content), header.orientation.stored(crop, in: header.storedSize))
    guard layout == .planes else { return [luma] }
    // A color transform needs whole pixels, so chroma at full resolution.
    let stepSize = pixels.colors == nil ? step.encoder.chromaStep : 1
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
    guard !isConverted, let transform = pixels.colors else { return try content.oriented(header.orientation) }
    let mixed = content.layout == .planes ? try content.mixed() : content
    transform.apply(to: mixed)
    return try mixed.oriented(header.orientation)
  }
}
