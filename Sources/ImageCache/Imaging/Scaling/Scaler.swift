import CImage

/// A resize of one plane, which gets its source a few rows at a time.
final class Scaler {
  private let handle: OpaquePointer
  /// Kept alive, because the C scaler refers to them.
  private let across, down: Kernel

  /// Creates a resize of a plane of this shape to `target`, whose memory must live as long, with the filter of `step`.
  ///
  /// Throws `outOfMemory` if memory runs out.
  init(
    from source: PlaneShape, to target: Plane, _ step: RenderPlan.Step, _ kernels: KernelCache
  ) throws(ImageError) {
    let (columns, rows) = (source.columns(target.shape.area), source.rows(target.shape.area))
    let filter = step.spec.filter
    across = try kernels.kernel(for: Kernel.Key(filter, of: source.size.width, columns, to: target.size.width))
    down = try kernels.kernel(for: Kernel.Key(filter, of: source.size.height, rows, to: target.size.height))
    let light = step.mixing == .light ? CImageLight.linear : .perceptual
    guard let handle = cimage_scaler_create(across.handle, down.handle, light, target.view) else {
      throw ImageError(.outOfMemory, "Out of memory while scaling the image.")
    }
    self.handle = handle
  }

  deinit { cimage_scaler_destroy(handle) }

  /// The part of the source that is needed.
  var needed: CImageArea { cimage_scaler_needed(handle) }

  /// The number of the first source row that is still needed; a very large number if none is.
  var firstRow: Int { Int(cimage_scaler_first_row(handle)) }

  /// The largest number of source rows that are needed at once.
  var rowCount: Int { Int(cimage_scaler_row_count(handle)) }

  /// Finishes all target rows for which `rows` suffices, the rows of the source from number `first` on.
  func advance(_ rows: CImageBitmap, first: Int) { cimage_scaler_advance(handle, rows, Int32(first)) }
}
