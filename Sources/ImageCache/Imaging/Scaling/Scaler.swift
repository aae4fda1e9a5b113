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

/// Scales an image for all thumbnails of a plan while it is decoded, so that only some of its rows are in memory.
///
/// Its thumbnails are ready once the decoder has returned.
final class ImageScaler: RowSink {
  private let plan: RenderPlan
  private let header: ImageHeader
  private let caches: RenderingCaches
  private var shape: DecodedShape?
  /// The pixels of the steps of the plan, in the same order.
  private var outputs: [ScaledPixels] = []
  private var groups: [MixingGroup] = []

  init(_ plan: RenderPlan, header: ImageHeader, caches: RenderingCaches) {
    (self.plan, self.header, self.caches) = (plan, header, caches)
  }

  func begin(_ shape: DecodedShape) throws(ImageError) {
    self.shape = shape
    for step in plan.steps {
      let planes = step.shapes(of: shape, header)
      outputs.append(try ScaledPixels(step, layout: shape.layout, planes: planes))
    }
    for mixing in Mixing.allCases {
      let members = outputs.filter { $0.step.mixing == mixing }
      guard !members.isEmpty else { continue }
      groups.append(
        try MixingGroup(
          members, from: shape.planes, channels: shape.layout.channels, kernels: caches.kernels,
          prepare: mixing.preparation(of: shape)))
    }
  }

  func needed(ofPlane index: Int) -> CImageArea {
    // A decoder always decodes something, even for no thumbnails.
    groups.map { $0.needed(ofPlane: index) }.reduce(CImageArea.nothing) { $0.union($1) }.orOneSample
  }

  func skip(_ counts: [Int]) {
    for group in groups { group.skip(counts) }
  }

  func take(_ rows: [CImageBitmap]) throws(ImageError) {
    for group in groups { try group.take(rows) }
  }

  /// Supplies the rows that a damaged file lacks. Returns false if it has no row at all.
  func fillMissingRows() throws(ImageError) -> Bool {
    guard let shape, groups.contains(where: \.hasRows) else { return false }
    for group in groups { try group.fillMissingRows(with: shape.layout.hasAlpha ? 0 : 128) }
    return true
  }

  /// Returns the thumbnails by the index of their spec. Call it once, after all rows.
  func thumbnails() throws(ImageError) -> [Int: Thumbnail] {
    guard let shape else { return [:] }
    var finisher = ThumbnailFinisher(
      header: header, shape: shape, kernels: caches.kernels, transforms: caches.transforms)
    for output in outputs { try finisher.finish(output) }
    return finisher.thumbnails
  }
}

extension Mixing {
  /// Returns the change of rows that this way of mixing needs before they are scaled; nil if it needs none.
  fileprivate func preparation(of shape: DecodedShape) -> ((CImageBitmap) -> Void)? {
    switch self {
    case .none: nil
    case .light: shape.colors.map { colors in { colors.apply(to: $0) } }
    case .numbers: shape.layout.hasAlpha ? { cimage_premultiply($0) } : nil
    }
  }
}

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

extension CImageArea {
  /// The area without any sample.
  static let nothing = CImageArea(left: .max, top: .max, right: 0, bottom: 0)

  /// Returns the smallest area that contains this one and `other`.
  func union(_ other: CImageArea) -> CImageArea {
    CImageArea(
      left: min(left, other.left), top: min(top, other.top), right: max(right, other.right),
      bottom: max(bottom, other.bottom))
  }

  /// This area; if it has no sample, that of the first sample.
  var orOneSample: CImageArea { left < right ? self : CImageArea(left: 0, top: 0, right: 1, bottom: 1) }

  /// The same part of an image with twice the columns and rows.
  var doubled: CImageArea { CImageArea(left: left * 2, top: top * 2, right: right * 2, bottom: bottom * 2) }
}

extension CImageBitmap {
  /// Returns a part of the rows.
  func rows(from first: Int, count: Int) -> CImageBitmap {
    CImageBitmap(
      pixels: pixels + first * stride, width: width, height: Int32(count), channels: channels, stride: stride)
  }

  /// Copies the rows from `first` on to all rows of `target`, which has the same channels and is at most as wide.
  func copy(from first: Int, to target: CImageBitmap) {
    for row in 0..<Int(target.height) {
      (target.pixels + row * target.stride).update(
        from: pixels + (first + row) * stride, count: Int(target.width) * Int(channels))
    }
  }
}
