/// The pixels of one file, ready to be scaled to any number of sizes.
struct DecodedPicture: ~Copyable {
  private let bitmap: Bitmap
  private let header: ImageHeader
  /// How much smaller than the file's header the bitmap is.
  private let shrink: Int
  private let transform: ColorTransform?
  private let kernels: KernelCache
  private var isPremultiplied = false
  private var isConverted = false

  /// Decodes `bytes`, a JPEG made `shrink` times smaller.
  init(
    _ bytes: [UInt8], header: ImageHeader, shrink: Int, kernels: KernelCache, warnings: inout [String]
  ) throws(ImageError) {
    self.header = header
    self.kernels = kernels
    self.shrink = shrink
    var profile: [UInt8]?
    switch header.format {
    case .jpeg:
      if !header.profile.isEmpty {
        profile = header.profile.assembled(from: bytes)
        if profile == nil { warnings.append("ICC profile ignored: it is incomplete or too large") }
      }
      bitmap = try .decodingJPEG(
        bytes, header: header, shrink: shrink, profile: profile, memoryLimit: Self.memoryLimit(header),
        warnings: &warnings)
      if header.isCMYK { profile = nil }
    case .png:
      bitmap = try .decodingPNG(bytes, header: header, profile: &profile, warnings: &warnings)
    }
    transform = profile.flatMap { ColorTransform($0, layout: header.layout, warnings: &warnings) }
  }

  /// What libjpeg may hold: the coefficients of a progressive picture, two bytes each, and some rows.
  static func memoryLimit(_ header: ImageHeader) -> Int {
    (32 << 20) + header.storedSize.area * 2 * (header.isCMYK ? 4 : header.layout.channels) * 2
  }

  /// The part a thumbnail shows, scaled, upright and in sRGB, with straight alpha.
  ///
  /// Must be called in the order of ``Mixing``: each step changes the pixels for the next.
  mutating func content(for geometry: FittedGeometry, of spec: ThumbnailSpec) throws(ImageError) -> Bitmap {
    prepare(for: Mixing(geometry, spec.light))
    let box = header.orientation.stored(geometry.crop, in: header.storedSize).shrunk(by: shrink)
    let size = header.orientation.applied(to: geometry.content)
    // Mitchell's filter would soften what is only copied.
    let filter = geometry.scales ? spec.filter : .box
    let across = Kernel.Key(
      filter: filter, sourceCount: readable.width, start: box.left, end: box.right, targetCount: size.width)
    let down = Kernel.Key(
      filter: filter, sourceCount: readable.height, start: box.top, end: box.bottom, targetCount: size.height)
    let content = try bitmap.scaled(
      across: kernels.kernel(for: across), down: kernels.kernel(for: down), readable: readable, to: size,
      in: geometry.scales ? spec.light : .perceptual)
    if isPremultiplied { content.unpremultiply() }
    if !isConverted { transform?.apply(to: content) }
    return content.oriented(header.orientation)
  }

  /// What a thumbnail does with its source's pixels.
  enum Mixing: Int, Comparable {
    /// Copies them.
    case none
    /// Mixes their light. That is only known of sRGB, so colours are converted before.
    case light
    /// Mixes their numbers, which must be premultiplied; that is not undone exactly.
    case numbers

    init(_ geometry: FittedGeometry, _ light: ThumbnailSpec.Light) {
      self = geometry.scales ? (light == .linear ? .light : .numbers) : .none
    }

    static func < (lhs: Mixing, rhs: Mixing) -> Bool { lhs.rawValue < rhs.rawValue }
  }

  private mutating func prepare(for mixing: Mixing) {
    if mixing == .light && !isConverted {
      transform?.apply(to: bitmap)
      isConverted = true
    }
    if mixing == .numbers && header.layout.hasAlpha && !isPremultiplied {
      bitmap.premultiply()
      isPremultiplied = true
    }
  }

  /// The last row and column of a shrunk JPEG may be made in part of what its encoder padded it with: left out.
  private var readable: PixelSize {
    PixelSize(
      width: max(1, header.storedSize.width / shrink), height: max(1, header.storedSize.height / shrink))
  }
}
