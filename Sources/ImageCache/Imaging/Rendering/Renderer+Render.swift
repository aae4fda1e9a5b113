extension Renderer {
  /// Decodes an image once and renders its thumbnails.
  ///
  /// Call it on a thread that may block: it waits while other threads hold the memory it needs, first come, first
  /// served. Deterministic: the same bytes and specs give the same files.
  ///
  /// - Parameters:
  ///   - bytes: A whole file in one of the formats ``SourceFormat/all``.
  ///   - specs: The thumbnails to render.
  /// - Returns: The source, one thumbnail per spec in the same order, and warnings about the file.
  /// - Throws: An error with any code of ``ImageError/Code``; `badSpec` if ``check(_:)`` refuses a spec, `truncated` if
  ///   any image data is missing, however little, unless ``failLevel`` tolerates that.
  public func render(_ bytes: [UInt8], specs: [ThumbnailSpec]) throws(ImageError) -> Rendering {
    try check(specs)
    var file = try ImageFile(bytes.span, limits: limits, decoders: caches.decoders)
    let source = file.decoder.header.source
    try source.size.check(minPixels: minPixels)
    file.decoder.fill(specs, maxPixels: maxOutputPixels)
    let plan = RenderPlan(file.decoder, specs: specs, maxContent: maxOutputPixels, encoders: caches.encoders)
    file.decoder.adapt(to: plan.demand)
    let cost = file.decoder.peakBytes + plan.peakBytes(file.decoder)
    if let renderers = caches.renderers, !(file.decoder is IsolatedDecoder) {
      return try IsolatedRenderer(renderers, encoders: caches.encoders).render(
        bytes, RenderOrder(specs, self), source: source, plan, memory: memory, cost: cost)
    }
    memory.enter(cost)
    defer { memory.leave(cost) }
    var warnings = file.warnings
    let header = file.decoder.header
    let scaler = ImageScaler(plan, header: header, kernels: caches.kernels)
    let isWhole = try decode(file, bytes.span, into: scaler, warnings: &warnings)
    if failLevel == .warning, let warning = warnings.first { throw ImageError(.decodeError, warning) }
    let thumbnails = try scaler.thumbnails()
    return Rendering(
      source: source, thumbnails: specs.indices.compactMap { thumbnails[$0] }, warnings: warnings,
      isDamaged: !isWhole)
  }

  /// Decodes a file. Returns false if it is damaged, which is tolerated.
  private func decode(
    _ file: ImageFile, _ bytes: Span<UInt8>, into scaler: ImageScaler, warnings: inout [String]
  ) throws(ImageError) -> Bool {
    do throws(ImageError) {
      try file.decode(bytes, colors: caches.transforms, into: scaler, warnings: &warnings)
      return true
    } catch {
      guard failLevel.tolerates(error.code), try scaler.fillMissingRows() else { throw error }
      warnings.append(error.message)
      return false
    }
  }
}
