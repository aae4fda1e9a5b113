extension RenderPlan.Step {
  /// Returns the shapes of the thumbnail's planes before the orientation is applied. If the chroma size is rounded up,
  /// the last chroma samples extend past the edge.
  func shapes(of shape: DecodedShape, _ header: ImageHeader) -> [PlaneShape] {
    let (content, crop) = (geometry.content, geometry.crop)
    let luma = stored(content, crop, header)
    guard shape.layout == .planes else { return [luma] }
    let stepSize = encoder.chromaStep
    let size = content.divided(by: stepSize, .up)
    let box = crop.stretched(
      across: Double(size.width * stepSize) / Double(content.width),
      down: Double(size.height * stepSize) / Double(content.height))
    let chroma = stored(size, box, header)
    return [luma, chroma, chroma]
  }

  /// Converts a displayed size and area to the stored ones.
  private func stored(_ size: PixelSize, _ area: PixelBox, _ header: ImageHeader) -> PlaneShape {
    PlaneShape(
      size: header.orientation.applied(to: size), area: header.orientation.stored(area, in: header.storedSize))
  }
}
