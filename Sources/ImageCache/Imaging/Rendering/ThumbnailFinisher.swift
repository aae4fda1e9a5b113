/// Makes thumbnails from scaled pixels.
struct ThumbnailFinisher {
  let header: ImageHeader
  let shape: DecodedShape
  let kernels: KernelCache
  /// The thumbnails so far, by the index of their spec.
  private(set) var thumbnails: [Int: Thumbnail] = [:]

  init(header: ImageHeader, shape: DecodedShape, kernels: KernelCache) {
    (self.header, self.shape, self.kernels) = (header, shape, kernels)
  }

  /// Makes the thumbnail of `scaled`, and those that are made from it.
  mutating func finish(_ scaled: ScaledPixels) throws(ImageError) {
    let step = scaled.step
    if !step.smaller.isEmpty {
      let smaller = try smaller(step.smaller, from: scaled)
      for scaled in smaller { try finish(scaled) }
    }
    let content = try finished(scaled.take(), step.mixing)
    thumbnails[step.index] = try step.spec.thumbnail(
      of: step.geometry.cropsContent ? try content.smartlyCropped(to: step.geometry.canvas) : content,
      geometry: step.geometry, encoder: step.encoder)
  }

  /// Scales the pixels of a thumbnail for smaller ones.
  private func smaller(_ steps: [RenderPlan.Step], from scaled: ScaledPixels) throws(ImageError) -> [ScaledPixels] {
    var outputs: [ScaledPixels] = []
    for step in steps {
      outputs.append(try ScaledPixels(step, layout: shape.layout, planes: step.shapes(of: shape, header)))
    }
    let group = try MixingGroup(
      outputs, from: scaled.planes.map(\.shape), channels: shape.layout.channels, kernels: kernels)
    try group.take(scaled.planes.map(\.view))
    return outputs
  }

  /// Returns scaled pixels with straight alpha, in sRGB, with the orientation applied.
  private func finished(_ pixels: consuming Bitmap, _ mixing: Mixing) throws(ImageError) -> Bitmap {
    if mixing == .numbers && shape.layout.hasAlpha { pixels.unpremultiply() }
    // Linear light needs sRGB, so the colors are converted already.
    guard mixing != .light, let colors = shape.colors else { return try pixels.oriented(header.orientation) }
    if pixels.layout == .planes {
      try colors.apply(toPlanes: pixels.planes)
    } else {
      colors.apply(to: pixels.planes[0].view)
    }
    return try pixels.oriented(header.orientation)
  }
}
