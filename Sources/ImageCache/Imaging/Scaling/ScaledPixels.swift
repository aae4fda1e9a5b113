/// The pixels of one thumbnail, which are filled while the image is scaled.
final class ScaledPixels {
  let step: RenderPlan.Step
  let planes: [Plane]
  /// nil once it is taken.
  private var bitmap: Bitmap?

  /// Allocates the pixels of a thumbnail that is made from planes of this layout.
  init(_ step: RenderPlan.Step, layout: PixelLayout, planes shapes: [PlaneShape]) throws(ImageError) {
    let bitmap = try Bitmap(layout: layout, planes: shapes)
    self.step = step
    planes = bitmap.planes
    self.bitmap = consume bitmap
  }

  /// Returns the pixels. Must be called only once, after all rows of the image are scaled.
  func take() -> Bitmap {
    guard let taken = bitmap.take() else { preconditionFailure("The pixels of a thumbnail were taken twice.") }
    return taken
  }
}
