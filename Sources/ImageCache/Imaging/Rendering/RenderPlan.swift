/// The cheapest way to render the thumbnails of one image: the needs of all, the source of each, and the order.
///
/// A plain value, computed from the header alone.
struct RenderPlan {
  /// One thumbnail, and those made from its scaled pixels instead of the decoded ones.
  struct Step {
    /// The index of the spec in the request.
    let index: Int
    let spec: ThumbnailSpec
    let geometry: FittedGeometry
    let mixing: Mixing
    let encoder: any ThumbnailEncoder
    let colors: ThumbnailSpec.Colors
    /// The part that all frames of an animation show; nil for a still image.
    var crop: FrameCrop?
    var smaller: [Step] = []
  }

  /// The most frames of a thumbnail that shows all; 1 for a still image.
  var frameCount = 1
  /// The needs of all thumbnails, from which the decoder chooses how to decode the image.
  let demand: DecodingDemand
  /// The thumbnails made from the decoded image, the largest first.
  private(set) var steps: [Step] = []

  /// Plans the thumbnails of the image whose header `decoder` has read. For a crop of scaled pixels, at most
  /// `maxContent` of them are made. `encoders` are the processes that encode AVIF. `process` changes the pixels.
  /// `parts` are those that are left without a border, by its tolerance. `frameEncoders`, one for each spec, get the
  /// frames of an animation.
  init(
    _ decoder: some ImageDecoder, specs: [ThumbnailSpec], maxContent: Int = .max, encoders: DecoderPool,
    process: PixelProcess? = nil, parts: [Int: TrimmedPart] = [:], frameEncoders: [any ThumbnailEncoder]? = nil
  ) {
    let steps = specs.enumerated().map { index, spec in
      let geometry = FittedGeometry(
        source: decoder.header.source.size, part: spec.trim.flatMap { parts[$0] }, spec: spec, maxContent: maxContent)
      let usual = frameEncoders?[index] ?? spec.encoder(for: decoder, encoders)
      let process = spec.format.showsSource ? nil : process
      let encoder = process.map { ProcessingEncoder(process: $0, spec: spec, usual: usual) } ?? usual
      let colors = process == nil ? spec.fileColors : .sRGB
      var step = Step(index: index, spec: spec, geometry: geometry, encoder: encoder, colors: colors)
      step.crop = frameEncoders.map { _ in FrameCrop() }
      return step
    }
    demand = DecodingDemand(steps)
    // The largest first, because smaller ones may be made from it.
    for step in steps.sorted(by: { $0.geometry.content.area > $1.geometry.content.area }) {
      Self.insert(step, into: &self.steps)
    }
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
  fileprivate init(
    index: Int, spec: ThumbnailSpec, geometry: FittedGeometry, encoder: any ThumbnailEncoder,
    colors: ThumbnailSpec.Colors
  ) {
    (self.index, self.spec, self.colors) = (index, spec, colors)
    (self.geometry, self.encoder) = (geometry, encoder)
    mixing = Mixing(geometry, spec.light)
  }

  /// Returns true if `other` can be made from this step's scaled pixels without visible loss: both show the same part
  /// with the same filter, and this one has twice as many pixels in each direction, give or take rounding. Chroma must
  /// not be sparser either; the quality of the specs decides that, even if one of the thumbnails is not a JPEG. A hash
  /// is made from the decoded pixels, so that it does not depend on the other thumbnails.
  fileprivate func canYield(_ other: Self) -> Bool {
    mixing == .numbers && other.mixing == .numbers && geometry.crop == other.geometry.crop
      && spec.format != .perceptualHash && other.spec.format != .perceptualHash
      && spec.filter == other.spec.filter && JPEGEncoder(spec).chromaStep <= JPEGEncoder(other.spec).chromaStep
      && geometry.content.width + 1 >= 2 * other.geometry.content.width
      && geometry.content.height + 1 >= 2 * other.geometry.content.height
  }

  /// The resolution that the thumbnail needs. Linear light needs every pixel, because a decoder that shrinks averages
  /// gamma-encoded values.
  fileprivate var target: DecodingDemand.Target {
    DecodingDemand.Target(reduction: mixing == .light ? 1 : geometry.reduction, chromaStep: encoder.chromaStep)
  }

  /// Planes if the thumbnail can be made from them without conversion to RGB: it is unpadded, and small enough that the
  /// chroma of common files, at half the resolution of luma, is filtered rather than copied or enlarged. A hash needs
  /// no chroma.
  fileprivate var form: DecodingDemand.Form {
    if spec.format == .perceptualHash { return .planes }
    let isMadeFromPlanes =
      mixing != .light && encoder.accepts(.planes) && !geometry.isPadded
      && geometry.reduction * Double(encoder.chromaStep) >= 3
    return isMadeFromPlanes ? .planes : .pixels
  }
}

extension DecodingDemand {
  /// Creates the demand of `steps`, each of which stands for one thumbnail of the image.
  fileprivate init(_ steps: [RenderPlan.Step]) {
    targets = steps.map(\.target)
    form = steps.allSatisfy { $0.form == .planes } ? .planes : .pixels
  }
}

// MARK: Memory

extension RenderPlan {
  /// Returns the peak number of bytes that rendering takes besides those of the decoder, estimated generously: windows
  /// on the decoded rows, all scaled content, and for one thumbnail at a time the oriented content, the canvas, smaller
  /// content, a buffer for the file, and what the encoder needs besides.
  func peakBytes(_ decoder: some ImageDecoder) -> Int {
    let steps = allSteps
    let contents = steps.reduce(0) { $0 + $1.geometry.peakArea }
    let largest = steps.map(\.geometry.peakArea).max() ?? 0
    let encoding = steps.map { $0.encoder.peakBytes(forPixels: $0.geometry.canvas.area) }.max() ?? 0
    return (contents + largest * 4) * 4 + encoding + windowBytes(decoder)
  }

  /// The thumbnails, with those that are made from others.
  var allSteps: [Step] { steps.flatMap(\.withSmaller) }

  /// Estimates one window for each way of mixing: twice the rows that are needed at once for 8 rows of a thumbnail,
  /// whose filter reaches over three of them on either side.
  private func windowBytes(_ decoder: some ImageDecoder) -> Int {
    let (size, stored) = (decoder.decodedSize, decoder.header.storedSize)
    let shrink = Double(stored.height) / Double(size.height)
    let reduction = (steps.map(\.geometry.largestReduction).max() ?? 1) / shrink
    let rows = min(Double(size.height), 28 * max(1, reduction) + 16)
    return Int(rows) * size.width * decoder.header.layout.channels * Set(steps.map(\.mixing)).count
  }
}

extension RenderPlan.Step {
  /// This thumbnail and all that are made from it.
  fileprivate var withSmaller: [Self] { [self] + smaller.flatMap(\.withSmaller) }
}

extension FittedGeometry {
  /// The number of pixels of the content or the canvas, whichever has more.
  fileprivate var peakArea: Int { max(content.area, canvas.area) }
}

// MARK: Shapes

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
