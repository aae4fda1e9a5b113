/// The way a thumbnail combines the pixels of its source.
///
/// Thumbnails of one source are made in this order, because the later cases change the decoded pixels in place.
enum Mixing: Int, Comparable {
  /// Copies pixels.
  case none
  /// Averages linear light. Needs sRGB, so colors are converted first.
  case light
  /// Averages gamma-encoded values. Needs premultiplied alpha, which cannot be undone exactly.
  case numbers

  init(_ geometry: FittedGeometry, _ light: ThumbnailSpec.Light) {
    self = geometry.scales ? (light == .linear ? .light : .numbers) : .none
  }

  static func < (lhs: Mixing, rhs: Mixing) -> Bool { lhs.rawValue < rhs.rawValue }
}
