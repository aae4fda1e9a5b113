/// The way a thumbnail combines the pixels of its source.
enum Mixing: CaseIterable {
  /// Copies pixels.
  case none
  /// Averages linear light. Needs sRGB, so colors are converted first.
  case light
  /// Averages gamma-encoded values. Needs premultiplied alpha, which cannot be undone exactly.
  case numbers

  init(_ geometry: FittedGeometry, _ light: ThumbnailSpec.Light) {
    self = geometry.scales ? (light == .linear ? .light : .numbers) : .none
  }
}
