/// What a thumbnail does with its source's pixels. In the order in which several thumbnails of one source are made.
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
