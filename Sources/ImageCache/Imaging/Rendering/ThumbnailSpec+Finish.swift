extension ThumbnailSpec {
  /// Puts scaled pixels on their canvas and encodes them.
  func thumbnail(
    of content: consuming Bitmap, geometry: FittedGeometry, sourceFormat: ImageFormat
  ) throws(ImageError) -> Thumbnail {
    let format = outputFormat(for: sourceFormat)
    let canvas = try onCanvas(content, geometry: geometry, format: format)
    let bytes =
      switch format {
      case .jpeg: try canvas.encodedJPEG(quality: quality, scans: scans)
      case .png: try canvas.encodedPNG()
      }
    return Thumbnail(
      spec: self, size: geometry.canvas, format: format, bytes: ThumbnailMark.adding(to: bytes, format))
  }

  /// The format of the file.
  func outputFormat(for source: ImageFormat) -> ImageFormat {
    switch format {
    case .auto: source
    case .jpeg: .jpeg
    case .png: .png
    }
  }

  /// How much sparser the chroma of a JPEG file is than its luma, in each direction.
  var chromaStep: Int { Self.chromaStep(quality: quality) }

  /// Below a quality of 90 all of the chroma would cost more than it shows.
  static func chromaStep(quality: Int) -> Int { quality < 90 ? 2 : 1 }

  /// The content itself where it fills the canvas and the format can hold it; else drawn on a new canvas.
  private func onCanvas(
    _ content: consuming Bitmap, geometry: FittedGeometry, format: ImageFormat
  ) throws(ImageError) -> Bitmap {
    let isPadded = geometry.canvas != geometry.content
    let isFlattened = format == .jpeg && content.layout.hasAlpha
    guard isPadded || isFlattened else { return content }
    let canvas = try Bitmap(size: geometry.canvas, layout: canvasLayout(for: content.layout, format: format))
    canvas.fill(format == .jpeg ? background.samples(in: canvas.layout) : Array(repeating: 0, count: 4))
    canvas.draw(content, left: geometry.origin.left, top: geometry.origin.top)
    return canvas
  }

  /// Gray stays gray unless it is put on a coloured background.
  private func canvasLayout(for content: PixelLayout, format: ImageFormat) -> PixelLayout {
    switch format {
    case .png: content.withAlpha
    case .jpeg: background.isGray ? content.withoutAlpha : .rgb
    }
  }
}

extension ThumbnailSpec.Color {
  fileprivate var isGray: Bool { red == green && green == blue }

  fileprivate func samples(in layout: PixelLayout) -> [UInt8] {
    layout.isGray ? [red] : [red, green, blue]
  }
}
