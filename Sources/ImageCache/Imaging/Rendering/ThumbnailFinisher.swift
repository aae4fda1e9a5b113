internal import CImage
internal import CXXHash

/// Makes thumbnails from scaled pixels.
struct ThumbnailFinisher {
  let header: ImageHeader
  let shape: DecodedShape
  let kernels: KernelCache
  let transforms: ColorTransformCache
  /// The thumbnails so far, by the index of their spec.
  private(set) var thumbnails: [Int: Thumbnail] = [:]

  init(header: ImageHeader, shape: DecodedShape, kernels: KernelCache, transforms: ColorTransformCache) {
    (self.header, self.shape) = (header, shape)
    (self.kernels, self.transforms) = (kernels, transforms)
  }

  /// Makes the thumbnail of `scaled`, and those that are made from it.
  mutating func finish(_ scaled: ScaledPixels) throws(ImageError) {
    let step = scaled.step
    if !step.smaller.isEmpty {
      let smaller = try smaller(step.smaller, from: scaled)
      for scaled in smaller { try finish(scaled) }
    }
    let (transform, colors) = try colors(of: step)
    let content = try finished(scaled.take(), step.mixing, transform).sharpened(by: step.spec.sharpening)
    thumbnails[step.index] = try step.spec.thumbnail(
      of: step.geometry.cropsContent ? try content.smartlyCropped(to: step.geometry.canvas, step.crop) : content,
      geometry: step.geometry, encoder: step.encoder, colors: colors)
  }

  /// Returns the colors of a thumbnail, and the transform to them; nil if the pixels have them.
  private func colors(of step: RenderPlan.Step) throws(ImageError) -> (ColorTransform?, FileColors) {
    guard step.colors != .sRGB, let usual = shape.colors, usual.losesColors else { return (shape.colors, .sRGB) }
    if step.colors == .source, case .profile(let profile) = usual.source { return (nil, .profile(profile)) }
    // The transform to sRGB has caused the same warnings.
    var warnings: [String] = []
    let wide = try transforms.transform(of: usual.source, model: usual.model, to: .displayP3, warnings: &warnings)
    return (wide, .displayP3)
  }

  /// Scales the pixels of a thumbnail for smaller ones.
  private func smaller(_ steps: [RenderPlan.Step], from scaled: ScaledPixels) throws(ImageError) -> [ScaledPixels] {
    var outputs: [ScaledPixels] = []
    for step in steps {
      outputs.append(try ScaledPixels(step, layout: shape.layout, planes: step.shapes(of: shape, header)))
    }
    let group = try MixingGroup(
      outputs, from: scaled.planes.map(\.shape), channels: shape.layout.channels, kernels: kernels)
    try group.take(scaled.planes.map(\.view))
    return outputs
  }

  /// Returns scaled pixels with straight alpha, with their colors converted and the orientation applied.
  private func finished(
    _ pixels: consuming Bitmap, _ mixing: Mixing, _ colors: ColorTransform?
  ) throws(ImageError) -> Bitmap {
    if mixing == .numbers && shape.layout.hasAlpha { pixels.unpremultiply() }
    // Linear light needs sRGB, so the colors are converted already.
    guard mixing != .light, let colors else { return try pixels.oriented(header.orientation) }
    if pixels.layout == .planes {
      try colors.apply(toPlanes: pixels.planes)
    } else {
      colors.apply(to: pixels.planes[0].view)
    }
    return try pixels.oriented(header.orientation)
  }
}

extension ThumbnailSpec {
  /// Draws scaled content on its canvas if needed, and encodes it.
  func thumbnail(
    of content: consuming Bitmap, geometry: FittedGeometry, encoder: any ThumbnailEncoder, colors: FileColors
  ) throws(ImageError) -> Thumbnail {
    var drawn = self
    if colors == .displayP3 { drawn.background = DisplayP3.color(background) }
    let file = try encoder.file(of: try drawn.onCanvas(content, geometry: geometry, for: encoder), colors: colors)
    return Thumbnail(spec: self, size: geometry.canvas, format: file.format, bytes: file.bytes)
  }

  /// Returns the content itself if it fills the canvas and the encoder accepts it, otherwise a new canvas with the
  /// content drawn on it.
  private func onCanvas(
    _ content: consuming Bitmap, geometry: FittedGeometry, for encoder: any ThumbnailEncoder
  ) throws(ImageError) -> Bitmap {
    guard geometry.isPadded || !encoder.accepts(content.layout) else { return content }
    return try drawn(content, left: geometry.origin.left, top: geometry.origin.top, on: geometry.canvas, for: encoder)
  }

  /// Returns the content itself if the encoder accepts it, otherwise the content on the background.
  func flattened(_ content: consuming Bitmap, for encoder: any ThumbnailEncoder) throws(ImageError) -> Bitmap {
    if encoder.accepts(content.layout) { return content }
    let size = content.size
    return try drawn(content, left: 0, top: 0, on: size, for: encoder)
  }

  private func drawn(
    _ content: borrowing Bitmap, left: Int, top: Int, on size: PixelSize, for encoder: any ThumbnailEncoder
  ) throws(ImageError) -> Bitmap {
    let canvas = try Bitmap(size: size, layout: canvasLayout(for: content.layout, encoder))
    canvas.fill(canvas.layout.hasAlpha ? Array(repeating: 0, count: 4) : background.samples(in: canvas.layout))
    canvas.draw(content, left: left, top: top, light: light)
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

/// A comment in every thumbnail that distinguishes it from other files: `thumbs` and a checksum of the rest of the
/// file.
///
/// A program that replaces old thumbnails checks for it first, so that it never replaces any other file. An edited
/// thumbnail no longer matches its checksum and counts as another file.
public enum ThumbnailMark {
  /// The first characters of the comment. A checksum of 16 hexadecimal digits follows.
  private static let word = "thumbs "
  private static let digitCount = 16

  /// Returns true if `file` is a thumbnail exactly as a ``Renderer`` made it.
  public static func isPresent(in file: [UInt8]) -> Bool {
    CodecTable.files.contains { format in
      let count = count(in: format)
      let start = format.commentOffset(inFileOf: file.count - count)
      guard start >= 0, file.count >= start + count else { return false }
      let (comment, rest) = (file[start..<start + count], file[(start + count)...])
      return comment == format.comment(text(of: file[..<start], rest))[...]
    }
  }

  /// The number of bytes that ``mayBePresent(inFileStartingWith:endingWith:)`` needs of either end.
  public static let endLength = 96

  /// Returns true if a file that begins with `prefix` and ends with `suffix` may be a thumbnail. Only
  /// ``isPresent(in:)`` is certain.
  public static func mayBePresent(inFileStartingWith prefix: [UInt8], endingWith suffix: [UInt8]) -> Bool {
    CodecTable.files.contains { format in
      guard let wordEnd = sample(format).firstRange(of: word.utf8)?.upperBound else { return false }
      return format.mayHold(sample(format)[..<wordEnd], FileEnds(prefix: prefix, suffix: suffix))
    }
  }

  /// Returns a `file` of `format` with the comment added.
  static func adding(to file: [UInt8], by format: any MarkedFormat.Type) -> [UInt8] {
    let start = format.commentOffset(inFileOf: file.count)
    guard file.count >= start else { return file }
    var head = Array(file[..<start])
    format.lengthen(&head, by: sample(format).count)
    return head + format.comment(text(of: head[...], file[start...])) + file[start...]
  }

  /// Returns the length of the comment.
  static func count(in format: any MarkedFormat.Type) -> Int { sample(format).count }

  /// Returns a comment of the same length as all of them.
  private static func sample(_ format: any MarkedFormat.Type) -> [UInt8] {
    format.comment(word + String(repeating: "0", count: digitCount))
  }

  private static func text(of head: ArraySlice<UInt8>, _ rest: ArraySlice<UInt8>) -> String {
    let digits = String(hash(of: rest, seed: hash(of: head, seed: 0)), radix: 16)
    return word + String(repeating: "0", count: digitCount - digits.count) + digits
  }

  private static func hash(of bytes: ArraySlice<UInt8>, seed: UInt64) -> UInt64 {
    bytes.withUnsafeBytes { xxh3_64($0.baseAddress, $0.count, seed) }
  }
}
