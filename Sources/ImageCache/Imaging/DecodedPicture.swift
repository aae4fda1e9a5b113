/// The pixels of one file, ready to be scaled to any number of sizes.
struct DecodedPicture: ~Copyable {
  private let bitmap: Bitmap
  private let header: ImageHeader
  /// How much smaller than the file's header the bitmap is.
  private let shrink: Int
  private let transform: ColorTransform?
  private var isPremultiplied = false

  /// Decodes `bytes`, a JPEG made `shrink` times smaller.
  init(_ bytes: [UInt8], header: ImageHeader, shrink: Int, warnings: inout [String]) throws(ImageError) {
    self.header = header
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
  private static func memoryLimit(_ header: ImageHeader) -> Int {
    (32 << 20) + header.storedSize.area * 2 * (header.isCMYK ? 4 : header.layout.channels) * 2
  }

  /// The part a thumbnail shows, scaled, upright and in sRGB, with straight alpha.
  ///
  /// Geometries that scale must come after those that do not.
  mutating func content(for geometry: FittedGeometry) throws(ImageError) -> Bitmap {
    let mixesAlpha = header.layout.hasAlpha && geometry.scales
    if mixesAlpha && !isPremultiplied {
      bitmap.premultiply()
      isPremultiplied = true
    }
    let box = header.orientation.stored(geometry.crop, in: header.storedSize).shrunk(by: shrink)
    let content = try bitmap.scaled(
      box, readable: readable, to: header.orientation.applied(to: geometry.content))
    if isPremultiplied { content.unpremultiply() }
    transform?.apply(to: content)
    return content.oriented(header.orientation)
  }

  /// The last row and column of a shrunk JPEG may be made in part of what its encoder padded it with: left out.
  private var readable: PixelSize {
    PixelSize(
      width: max(1, header.storedSize.width / shrink), height: max(1, header.storedSize.height / shrink))
  }
}
