/// How the thumbnails of one picture are made with the least work: how the file is decoded, which thumbnail is made of
/// what, and in which order. A plain value, known from the header alone.
struct RenderPlan {
  /// What the file is decoded into.
  enum Form {
    /// Pixels of the header's layout.
    case pixels
    /// Planes of luma and chroma as a JPEG file keeps them, which go into another one as they are; where the file's
    /// colours turn out to be others, pixels.
    case planes
  }

  /// One thumbnail, and those that are made of its scaled pixels instead of the decoded ones.
  struct Step {
    /// Its place in the list of what was asked for.
    let index: Int
    let spec: ThumbnailSpec
    let geometry: FittedGeometry
    let mixing: Mixing
    var smaller: [Step] = []
  }

  let form: Form
  /// How much smaller a JPEG is made while its DCT blocks are decoded: 1, 2, 4 or 8.
  let shrink: Int
  /// What is made of the decoded picture, in this order: each way of mixing changes it for the next.
  private(set) var steps: [Step] = []

  /// A plan for the picture of `header`.
  init(header: ImageHeader, specs: [ThumbnailSpec]) {
    let steps = specs.indices.map { index in
      let geometry = FittedGeometry(source: header.source.size, spec: specs[index])
      return Step(
        index: index, spec: specs[index], geometry: geometry, mixing: Mixing(geometry, specs[index].light))
    }
    form = steps.allSatisfy { header.fitsPlanes(for: $0) } ? .planes : .pixels
    shrink = Self.shrink(for: steps, of: header)
    // The largest first: the others may be made of it.
    for step in steps.sorted(by: { ($0.mixing, -$0.geometry.content.area) < ($1.mixing, -$1.geometry.content.area) }) {
      Self.insert(step, into: &self.steps)
    }
  }

  private static func shrink(for steps: [Step], of header: ImageHeader) -> Int {
    // Light is mixed from full detail: a DCT shrink mixes numbers.
    guard header.format == .jpeg, !steps.contains(where: { $0.mixing == .light }) else { return 1 }
    let demands = steps.map { step in
      let isJPEG = step.spec.outputFormat(for: header.format) == .jpeg
      return DCTShrink.Demand(reduction: step.geometry.reduction, chromaStep: isJPEG ? step.spec.chromaStep : 1)
    }
    return DCTShrink.factor(for: demands, of: header.storedSize, chromaStretch: header.chromaStretch)
  }

  /// Puts `step` under the smallest one it can be made of.
  private static func insert(_ step: Step, into steps: inout [Step]) {
    if let index = steps.lastIndex(where: { $0.canYield(step) }) {
      insert(step, into: &steps[index].smaller)
    } else {
      steps.append(step)
    }
  }
}

extension RenderPlan.Step {
  /// Whether `other` can be made of this step's scaled pixels and looks as if made of the decoded ones: they show the
  /// same part, filtered alike, with twice as many pixels in each direction, but for rounding.
  func canYield(_ other: Self) -> Bool {
    mixing == .numbers && other.mixing == .numbers && geometry.crop == other.geometry.crop
      && spec.filter == other.spec.filter && spec.chromaStep <= other.spec.chromaStep
      && geometry.content.width + 1 >= 2 * other.geometry.content.width
      && geometry.content.height + 1 >= 2 * other.geometry.content.height
  }
}

extension ImageHeader {
  /// Whether a thumbnail can be made without turning luma and chroma into other colours on the way: it is a JPEG file
  /// of nothing but this picture, and small enough that the chroma of usual files, half as dense as luma, is filtered
  /// and not just copied or made up.
  fileprivate func fitsPlanes(for step: RenderPlan.Step) -> Bool {
    format == .jpeg && layout == .rgb && !isCMYK && step.mixing != .light
      && step.spec.outputFormat(for: format) == .jpeg && step.geometry.canvas == step.geometry.content
      && step.geometry.reduction * Double(step.spec.chromaStep) >= 3
  }
}
