extension Renderer {
  /// Decodes an image once and renders its thumbnails.
  ///
  /// Call it on a thread that may block: it waits while other threads hold the memory it needs, first come, first
  /// served. Deterministic: the same bytes and specs give the same files.
  ///
  /// - Parameters:
  ///   - bytes: A whole JPEG or PNG file.
  ///   - specs: The thumbnails to render.
  /// - Returns: The source, one thumbnail per spec in the same order, and warnings about the file.
  /// - Throws: An error with any code of ``ImageError/Code``; `badSpec` if ``check(_:)`` refuses a spec, `truncated` if
  ///   any image data is missing, however little.
  public func render(_ bytes: [UInt8], specs: [ThumbnailSpec]) throws(ImageError) -> Rendering {
    try check(specs)
    let header = try header(of: bytes)
    let plan = RenderPlan(header: header, specs: specs)
    let cost = DecodingCost(
      header: header, shrink: plan.shrink,
      canvases: specs.map { FittedGeometry(source: header.source.size, spec: $0).canvas }
    ).bytes
    memory.enter(cost)
    defer { memory.leave(cost) }
    var warnings = header.warnings
    var image = try DecodedImage.decoding(
      bytes, header: header, plan: plan, caches: caches, warnings: &warnings)
    var thumbnails: [Int: Thumbnail] = [:]
    for step in plan.steps { try image.render(step, into: &thumbnails) }
    return Rendering(
      source: header.source, thumbnails: specs.indices.compactMap { thumbnails[$0] }, warnings: warnings)
  }

  private func header(of bytes: [UInt8]) throws(ImageError) -> ImageHeader {
    if let header = try ImageHeader.read(bytes.span, maxPixels: maxPixels) {
      return header.completed(by: bytes.span)
    }
    if case .undecided = try FileSignature.recognize(bytes.span) { throw TextContent.description(of: bytes.span) }
    throw ImageError(.truncated, "The file ends before its image data begins.")
  }
}
