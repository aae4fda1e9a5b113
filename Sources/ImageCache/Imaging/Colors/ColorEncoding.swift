import CImage

/// The meaning of RGB or gray samples, described by a few numbers instead of a profile.
struct ColorEncoding: Hashable, Sendable {
  /// A chromaticity: x and y of CIE 1931.
  struct Chromaticity: Hashable, Sendable {
    var x, y: Double

    /// True if all three coordinates that add up to 1 are in range.
    var isPossible: Bool { x >= 0 && y > 0 && x + y <= 1 }

    /// Returns a positive number if `point` is to the left of the line from this point to `end`, a negative one if it
    /// is to the right, and 0 if it is on the line.
    func side(of point: Self, to end: Self) -> Double {
      (end.x - x) * (point.y - y) - (end.y - y) * (point.x - x)
    }
  }

  /// The relation between samples and light.
  enum Curve: Hashable, Sendable {
    /// Light is the sample to the power of a number.
    case power(Double)
    case sRGB
    /// The curve of television (ITU-R BT.709-6).
    case television
    /// The curves of high dynamic range (ITU-R BT.2100-2).
    case pq, hlg
  }

  var white = Chromaticity(x: 0.3127, y: 0.3290)
  var red = Chromaticity(x: 0.64, y: 0.33)
  var green = Chromaticity(x: 0.30, y: 0.60)
  var blue = Chromaticity(x: 0.15, y: 0.06)
  var curve = Curve.sRGB

  /// True if white is a mixture of the three colors, and all four can exist.
  var isPossible: Bool {
    guard [white, red, green, blue].allSatisfy(\.isPossible) else { return false }
    let sides = [red.side(of: white, to: green), green.side(of: white, to: blue), blue.side(of: white, to: red)]
    return sides.allSatisfy { $0 > 0 } || sides.allSatisfy { $0 < 0 }
  }

  /// True if white and the three colors are those of sRGB, give or take rounding.
  var hasColorsOfSRGB: Bool {
    let standard = ColorEncoding()
    let pairs = [(white, standard.white), (red, standard.red), (green, standard.green), (blue, standard.blue)]
    return pairs.allSatisfy { abs($0.x - $1.x) < 0.003 && abs($0.y - $1.y) < 0.003 }
  }

  /// The encoding as a C structure.
  var view: CImageColorEncoding {
    let points = [white, red, green, blue].map { CImageChromaticity(x: $0.x, y: $0.y) }
    let (curve, exponent): (CImageCurve, Double) =
      switch curve {
      case .power(let exponent): (.power, exponent)
      case .sRGB: (.SRGB, 1)
      case .television: (.television, 1)
      case .pq: (.PQ, 1)
      case .hlg: (.HLG, 1)
      }
    return CImageColorEncoding(
      white: points[0], red: points[1], green: points[2], blue: points[3], curve: curve, exponent: exponent)
  }
}

// MARK: Code points

extension ColorEncoding {
  /// Creates an encoding from the code points for color primaries and transfer characteristics (ITU-T H.273, tables 2
  /// and 3). Returns nil if one of them is unspecified, reserved or not supported.
  init?(primaries: UInt8, transfer: UInt8) {
    guard let primaries = Self.primaries[primaries], let curve = Self.curve(transfer) else { return nil }
    self.init(
      white: primaries[0], red: primaries[1], green: primaries[2], blue: primaries[3], curve: curve)
  }

  /// Creates the encoding of a profile for high dynamic range, which its tag `cicp` names (ICC.1:2022, 9.2.17 and
  /// 10.3). The curves of the profile itself end at the brightest light and would make everything else nearly black.
  /// Returns nil for any other profile.
  init?(profile: [UInt8]) {
    guard profile.count >= 132, profile[16..<20].elementsEqual("RGB ".utf8) else { return nil }
    let count = min(profile.bigEndian(at: 128), (profile.count - 132) / 12)
    let entry = (0..<count).lazy.map { 132 + $0 * 12 }.first { profile[$0..<($0 + 4)].elementsEqual("cicp".utf8) }
    guard let entry else { return nil }
    let start = profile.bigEndian(at: entry + 4)
    guard start >= 132, start <= profile.count - 12, profile[start..<(start + 4)].elementsEqual("cicp".utf8) else {
      return nil
    }
    // RGB samples of full range.
    guard profile[start + 10] == 0, profile[start + 11] == 1 else { return nil }
    self.init(primaries: profile[start + 8], transfer: profile[start + 9])
    guard curve == .pq || curve == .hlg else { return nil }
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

extension [UInt8] {
  fileprivate func bigEndian(at index: Int) -> Int { self[index..<(index + 4)].reduce(0) { $0 << 8 | Int($1) } }
}

/// The colors that a file declares.
enum SourceColors: Hashable, Sendable {
  /// The bytes of an ICC profile, not a digest, so that a file with a colliding digest cannot change the colors of
  /// another file.
  case profile([UInt8])
  /// A description by a few numbers.
  case encoding(ColorEncoding)

  /// The number of bytes of a profile.
  var byteCount: Int {
    if case .profile(let bytes) = self { bytes.count } else { 0 }
  }
}
