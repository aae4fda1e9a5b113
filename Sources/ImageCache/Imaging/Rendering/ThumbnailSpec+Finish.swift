extension ThumbnailSpec {
  /// Draws scaled content on its canvas if needed, and encodes it.
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

  /// Returns the format of the thumbnail for a source of the given format.
  func outputFormat(for source: ImageFormat) -> ImageFormat {
    switch format {
    case .auto: source
    case .jpeg: .jpeg
    case .png: .png
    }
  }

  /// The number of pixels per chroma sample in JPEG output, in each direction.
  var chromaStep: Int { Self.chromaStep(quality: quality) }

  /// Returns 2 (4:2:0) below a quality of 90, where full chroma costs more than it shows, otherwise 1 (4:4:4).
  static func chromaStep(quality: Int) -> Int { quality < 90 ? 2 : 1 }

  /// Returns the content itself if it fills the canvas and the format can store it, otherwise a new canvas with the
  /// content drawn on it.
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

  /// Returns the layout of the canvas. Gray stays gray, except on a colored background.
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
