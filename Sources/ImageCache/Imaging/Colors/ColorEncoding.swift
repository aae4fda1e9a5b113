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
