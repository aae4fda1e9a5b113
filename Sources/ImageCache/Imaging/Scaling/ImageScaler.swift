import CImage

/// Scales an image for all thumbnails of a plan while it is decoded, so that only some of its rows are in memory.
///
/// Its thumbnails are ready once the decoder has returned.
final class ImageScaler: RowSink {
  private let plan: RenderPlan
  private let header: ImageHeader
  private let kernels: KernelCache
  private var shape: DecodedShape?
  /// The pixels of the steps of the plan, in the same order.
  private var outputs: [ScaledPixels] = []
  private var groups: [MixingGroup] = []

  init(_ plan: RenderPlan, header: ImageHeader, kernels: KernelCache) {
    (self.plan, self.header, self.kernels) = (plan, header, kernels)
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
          members, from: shape.planes, channels: shape.layout.channels, kernels: kernels,
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
    var finisher = ThumbnailFinisher(header: header, shape: shape, kernels: kernels)
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
