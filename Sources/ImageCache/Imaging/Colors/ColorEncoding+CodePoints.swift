extension ColorEncoding {
  /// Creates an encoding from the code points for color primaries and transfer characteristics (ITU-T H.273, tables 2
  /// and 3). Returns nil if one of them is unspecified, reserved or not supported.
  init?(primaries: UInt8, transfer: UInt8) {
    guard let primaries = Self.primaries[primaries], let curve = Self.curve(transfer) else { return nil }
    self.init(
      white: primaries[0], red: primaries[1], green: primaries[2], blue: primaries[3], curve: curve)
  }

  private static let d65 = Chromaticity(x: 0.3127, y: 0.3290)
  private static let illuminantC = Chromaticity(x: 0.310, y: 0.316)

  /// White, red, green and blue by code point.
  private static let primaries: [UInt8: [Chromaticity]] = [
    1: points(d65, (0.640, 0.330), (0.300, 0.600), (0.150, 0.060)),
    4: points(illuminantC, (0.67, 0.33), (0.21, 0.71), (0.14, 0.08)),
    5: points(d65, (0.64, 0.33), (0.29, 0.60), (0.15, 0.06)),
    6: points(d65, (0.630, 0.340), (0.310, 0.595), (0.155, 0.070)),
    7: points(d65, (0.630, 0.340), (0.310, 0.595), (0.155, 0.070)),
    8: points(illuminantC, (0.681, 0.319), (0.243, 0.692), (0.145, 0.049)),
    9: points(d65, (0.708, 0.292), (0.170, 0.797), (0.131, 0.046)),
    11: points(Chromaticity(x: 0.314, y: 0.351), (0.680, 0.320), (0.265, 0.690), (0.150, 0.060)),
    12: points(d65, (0.680, 0.320), (0.265, 0.690), (0.150, 0.060)),
    22: points(d65, (0.630, 0.340), (0.295, 0.605), (0.155, 0.077)),
  ]

  private static func points(
    _ white: Chromaticity, _ red: (Double, Double), _ green: (Double, Double), _ blue: (Double, Double)
  ) -> [Chromaticity] {
    [white] + [red, green, blue].map { Chromaticity(x: $0.0, y: $0.1) }
  }

  private static func curve(_ transfer: UInt8) -> Curve? {
    switch transfer {
    case 1, 6, 11, 14, 15: .television
    case 4: .power(2.2)
    case 5: .power(2.8)
    case 8: .power(1)
    case 13: .sRGB
    case 16: .pq
    case 18: .hlg
    default: nil
    }
  }
}
