extension Renderer {
  /// Makes thumbnails of a picture that is decoded once.
  ///
  /// Synchronous, for threads that may block: it waits while other threads hold the memory it needs, first come, first
  /// served. Deterministic: the same bytes and specs give the same files.
  ///
  /// - Parameters:
  ///   - bytes: a whole JPEG or PNG file.
  ///   - specs: what to make of it. Those that ``check(_:)`` refuses are `badSpec`.
  /// - Returns: the source, one thumbnail for each spec in the same order, and what was odd in the file.
  /// - Throws: any cause of ``ImageError/Code``. A file that is cut off is `truncated`, however little is missing
  ///   of its picture.
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
    var picture = try DecodedPicture.decoding(
      bytes, header: header, plan: plan, caches: caches, warnings: &warnings)
    var thumbnails: [Int: Thumbnail] = [:]
    for step in plan.steps { try picture.render(step, into: &thumbnails) }
    return Rendering(
      source: header.source, thumbnails: specs.indices.compactMap { thumbnails[$0] }, warnings: warnings)
  }

  private func header(of bytes: [UInt8]) throws(ImageError) -> ImageHeader {
    if let header = try ImageHeader.read(bytes.span, maxPixels: maxPixels) {
      return header.completed(by: bytes.span)
    }
    if case .undecided = try FileSignature.recognize(bytes.span) { throw TextContent.description(of: bytes.span) }
    throw ImageError(.truncated, "The file ends before its picture begins.")
  }
}
