extension Renderer {
  /// Makes thumbnails of a picture that is decoded once.
  ///
  /// Synchronous, for threads that may block: it waits while other threads hold the memory it needs, first come, first
  /// served. Deterministic: the same bytes and specs give the same files.
  ///
  /// - Parameters:
  ///   - bytes: a whole JPEG or PNG file.
  ///   - specs: what to make of it. Each box must have sides of 1 to ``ThumbnailSpec/largestSide`` pixels.
  /// - Returns: the source, one thumbnail for each spec in the same order, and what was odd in the file.
  /// - Throws: any cause of ``ImageError/Code``. A file that is cut off is `truncated`, however little is missing
  ///   of its picture.
  public func render(_ bytes: [UInt8], specs: [ThumbnailSpec]) throws(ImageError) -> Rendering {
    let header = try header(of: bytes)
    let geometries = specs.map { FittedGeometry(source: header.source.size, spec: $0) }
    let mixings = specs.indices.map { DecodedPicture.Mixing(geometries[$0], specs[$0].light) }
    let shrink = mixings.contains(.light) ? 1 : shrink(for: geometries, of: header)
    let cost = DecodingCost(header: header, shrink: shrink, canvases: geometries.map(\.canvas)).bytes
    memory.enter(cost)
    defer { memory.leave(cost) }
    var warnings = header.warnings
    var picture = try DecodedPicture(
      bytes, header: header, shrink: shrink, kernels: kernels, warnings: &warnings)

    var thumbnails: [Int: Thumbnail] = [:]
    for index in specs.indices.sorted(by: { mixings[$0] < mixings[$1] }) {
      let content = try picture.content(for: geometries[index], of: specs[index])
      thumbnails[index] = try specs[index].thumbnail(
        of: content, geometry: geometries[index], sourceFormat: header.format)
    }
    return Rendering(
      source: header.source, thumbnails: specs.indices.compactMap { thumbnails[$0] }, warnings: warnings)
  }

  private func shrink(for geometries: [FittedGeometry], of header: ImageHeader) -> Int {
    switch header.format {
    case .jpeg:
      DCTShrink.factor(
        for: geometries.map(\.reduction), of: header.storedSize, chromaStretch: header.chromaStretch)
    case .png: 1
    }
  }

  private func header(of bytes: [UInt8]) throws(ImageError) -> ImageHeader {
    if let header = try ImageHeader.read(bytes.span, maxPixels: maxPixels) {
      return header.completed(by: bytes.span)
    }
    if case .undecided = try FileSignature.recognize(bytes.span) { throw TextContent.description(of: bytes.span) }
    throw ImageError(.truncated, "The file ends before its picture begins.")
  }
}
