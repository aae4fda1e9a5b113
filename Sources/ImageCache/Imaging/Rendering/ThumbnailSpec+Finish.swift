extension ThumbnailSpec {
  /// Draws scaled content on its canvas if needed, and encodes it.
  func thumbnail(
    of content: consuming Bitmap, geometry: FittedGeometry, encoder: any ThumbnailEncoder
  ) throws(ImageError) -> Thumbnail {
    let file = try encoder.file(of: try onCanvas(content, geometry: geometry, for: encoder))
    return Thumbnail(spec: self, size: geometry.canvas, format: file.format, bytes: file.bytes)
  }

  /// Returns the content itself if it fills the canvas and the encoder accepts it, otherwise a new canvas with the
  /// content drawn on it.
  private func onCanvas(
    _ content: consuming Bitmap, geometry: FittedGeometry, for encoder: any ThumbnailEncoder
  ) throws(ImageError) -> Bitmap {
    guard geometry.isPadded || !encoder.accepts(content.layout) else { return content }
    let canvas = try Bitmap(size: geometry.canvas, layout: canvasLayout(for: content.layout, encoder))
    canvas.fill(canvas.layout.hasAlpha ? Array(repeating: 0, count: 4) : background.samples(in: canvas.layout))
    canvas.draw(content, left: geometry.origin.left, top: geometry.origin.top, light: light)
    return canvas
  }

  /// Returns the layout of the canvas: transparent if the encoder accepts that, otherwise with the background color.
  /// Gray stays gray, except on a colored background.
  private func canvasLayout(for content: PixelLayout, _ encoder: any ThumbnailEncoder) -> PixelLayout {
    if encoder.accepts(content.withAlpha) { return content.withAlpha }
    return background.isGray ? content.withoutAlpha : .rgb
  }
}

extension ThumbnailSpec.Color {
  fileprivate var isGray: Bool { red == green && green == blue }

  fileprivate func samples(in layout: PixelLayout) -> [UInt8] {
    layout.isGray ? [red] : [red, green, blue]
  }
}
