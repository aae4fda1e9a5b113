/// The cheapest way to render the thumbnails of one image: the decoded form, the source of each thumbnail and the
/// order.
///
/// A plain value, computed from the header alone.
struct RenderPlan {
  /// The form into which the file is decoded.
  enum Form {
    /// Pixels of the header's layout.
    case pixels
    /// Luma and chroma planes, as JPEG files store them. Falls back to pixels if the file's color space is not YCbCr.
    case planes
  }

  /// One thumbnail, and those made from its scaled pixels instead of the decoded ones.
  struct Step {
    /// The index of the spec in the request.
    let index: Int
    let spec: ThumbnailSpec
    let geometry: FittedGeometry
    let mixing: Mixing
    var smaller: [Step] = []
  }

  let form: Form
  /// The factor by which libjpeg shrinks the image while it decodes the DCT blocks: 1, 2, 4 or 8.
  let shrink: Int
  /// The thumbnails made from the decoded image, in order of ``Mixing``, because each kind changes the pixels in place.
  private(set) var steps: [Step] = []

  /// Plans the thumbnails of the image that `header` describes.
  init(header: ImageHeader, specs: [ThumbnailSpec]) {
    let steps = specs.indices.map { index in
      let geometry = FittedGeometry(source: header.source.size, spec: specs[index])
      return Step(
        index: index, spec: specs[index], geometry: geometry, mixing: Mixing(geometry, specs[index].light))
    }
    form = steps.allSatisfy { header.fitsPlanes(for: $0) } ? .planes : .pixels
    shrink = Self.shrink(for: steps, of: header)
    // The largest first, because smaller ones may be made from it.
    for step in steps.sorted(by: { ($0.mixing, -$0.geometry.content.area) < ($1.mixing, -$1.geometry.content.area) }) {
      Self.insert(step, into: &self.steps)
    }
  }

  private static func shrink(for steps: [Step], of header: ImageHeader) -> Int {
    // Linear light needs full resolution, because a DCT shrink averages gamma-encoded values.
    guard header.format == .jpeg, !steps.contains(where: { $0.mixing == .light }) else { return 1 }
    let demands = steps.map { step in
      let isJPEG = step.spec.outputFormat(for: header.format) == .jpeg
      return DCTShrink.Target(reduction: step.geometry.reduction, chromaStep: isJPEG ? step.spec.chromaStep : 1)
    }
    return DCTShrink.factor(for: demands, of: header.storedSize, chromaStretch: header.chromaStretch)
  }

  /// Adds `step` under the smallest step it can be made from, or to `steps` if no step can yield it.
  private static func insert(_ step: Step, into steps: inout [Step]) {
    if let index = steps.lastIndex(where: { $0.canYield(step) }) {
      insert(step, into: &steps[index].smaller)
    } else {
      steps.append(step)
    }
  }
}

extension RenderPlan.Step {
  /// Returns true if `other` can be made from this step's scaled pixels without visible loss: both show the same part
  /// with the same filter, and this one has twice as many pixels in each direction, give or take rounding.
  func canYield(_ other: Self) -> Bool {
    mixing == .numbers && other.mixing == .numbers && geometry.crop == other.geometry.crop
      && spec.filter == other.spec.filter && spec.chromaStep <= other.spec.chromaStep
      && geometry.content.width + 1 >= 2 * other.geometry.content.width
      && geometry.content.height + 1 >= 2 * other.geometry.content.height
  }
}

extension ImageHeader {
  /// Returns true if a thumbnail can be made from luma and chroma planes without conversion to RGB: it is an unpadded
  /// JPEG, and small enough that the chroma of common files, at half the resolution of luma, is filtered rather than
  /// copied or enlarged.
  fileprivate func fitsPlanes(for step: RenderPlan.Step) -> Bool {
    format == .jpeg && layout == .rgb && !isCMYK && step.mixing != .light
      && step.spec.outputFormat(for: format) == .jpeg && step.geometry.canvas == step.geometry.content
      && step.geometry.reduction * Double(step.spec.chromaStep) >= 3
  }
}
