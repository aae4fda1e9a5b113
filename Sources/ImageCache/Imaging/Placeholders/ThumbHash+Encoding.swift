// The arithmetic is that of the reference implementation, https://github.com/evanw/thumbhash, and so are the bytes.
// Only where a term is 0 but for rounding errors, in images of one color and in symmetric ones, the results of its
// versions differ with the language. Here these terms always count as 0.
extension ThumbHash {
  /// Encodes an image of at least one pixel, whose sides are at most ``longestSide``. `samples` are red, green, blue
  /// and straight alpha of each pixel, row after row.
  init(_ samples: Span<UInt8>, size: PixelSize) {
    let alpha = stride(from: 3, to: samples.count, by: 4).reduce(255) { $0 & samples[$1] }
    let shape = Shape(size, hasAlpha: alpha < 255)
    let mean = shape.hasAlpha ? Self.mean(samples) : .zero
    let channels = Self.channels(samples, size, mean: mean, hasAlpha: shape.hasAlpha)
    let terms = zip(channels, shape.channels).map { channel, waves in
      channel.terms(across: waves.across, down: waves.down, count: size.area)
    }
    bytes = Self.header(terms, shape, isLandscape: size.width > size.height) + Self.packed(terms.flatMap(\.waves))
  }

  /// Returns the mean color, weighed by alpha; zero if all pixels are transparent.
  private static func mean(_ samples: Span<UInt8>) -> SIMD4<Double> {
    var sum = SIMD4<Double>.zero
    for offset in stride(from: 0, to: samples.count, by: 4) { sum += weighed(samples, offset) }
    return sum.w > 0 ? sum / sum.w : sum
  }

  /// Returns a pixel with each color multiplied by alpha, all from 0 to 1.
  @inline(__always)
  private static func weighed(_ samples: Span<UInt8>, _ offset: Int) -> SIMD4<Double> {
    let alpha = shares[Int(samples[offset + 3])]
    let weight = alpha / 255
    return SIMD4(
      weight * Double(samples[offset]), weight * Double(samples[offset + 1]), weight * Double(samples[offset + 2]),
      alpha)
  }

  /// The values of a sample, from 0 to 1.
  private static let shares = (0...255).map { Double($0) / 255 }

  /// Sums the channels: lightness, yellow against blue, red against green, and alpha. Transparent parts have the mean
  /// color.
  private static func channels(
    _ samples: Span<UInt8>, _ size: PixelSize, mean: SIMD4<Double>, hasAlpha: Bool
  ) -> [CosineSums] {
    let (across, down) = (CosineSums.waves(size.width), CosineSums.waves(size.height))
    var (light, yellow, red, alpha) = (CosineSums(), CosineSums(), CosineSums(), CosineSums())
    var offset = 0
    for y in 0..<size.height {
      var (lights, alphas) = (CosineSums.Waves.zero, CosineSums.Waves.zero)
      var (yellows, reds) = (SIMD4<Double>.zero, SIMD4<Double>.zero)
      for x in 0..<size.width {
        let pixel = weighed(samples, offset)
        let color = mean * (1 - pixel.w) + pixel
        lights += across[x] * ((color.x + color.y + color.z) / 3)
        yellows += across[x].lowHalf * ((color.x + color.y) / 2 - color.z)
        reds += across[x].lowHalf * (color.x - color.y)
        if hasAlpha { alphas += across[x] * pixel.w }
        offset += 4
      }
      light.add(lights, at: down[y])
      yellow.add(CosineSums.Waves(lowHalf: yellows, highHalf: .zero), at: down[y])
      red.add(CosineSums.Waves(lowHalf: reds, highHalf: .zero), at: down[y])
      if hasAlpha { alpha.add(alphas, at: down[y]) }
    }
    return [light, yellow, red, alpha]
  }

  private static func header(_ terms: [CosineSums.Terms], _ shape: Shape, isLandscape: Bool) -> [UInt8] {
    let (light, yellow, red) = (terms[0], terms[1], terms[2])
    let colors =
      rounded(63 * light.mean) | rounded(31.5 + 31.5 * yellow.mean) << 6 | rounded(31.5 + 31.5 * red.mean) << 12
      | rounded(31 * light.scale) << 18 | (shape.hasAlpha ? 1 << 23 : 0)
    let scales =
      (isLandscape ? shape.down : shape.across) | rounded(63 * yellow.scale) << 3 | rounded(63 * red.scale) << 9
      | (isLandscape ? 1 << 15 : 0)
    let bytes = [colors, colors >> 8, colors >> 16, scales, scales >> 8].map { UInt8(truncatingIfNeeded: $0) }
    guard shape.hasAlpha, let alpha = terms.last else { return bytes }
    return bytes + [UInt8(rounded(15 * alpha.mean) | rounded(15 * alpha.scale) << 4)]
  }

  /// Returns values from 0 to 1, each in half a byte.
  private static func packed(_ values: [Double]) -> [UInt8] {
    let halves = values.map { UInt8(rounded(15 * $0)) }
    return stride(from: 0, to: halves.count, by: 2).map { index in
      halves[index] | (index + 1 < halves.count ? halves[index + 1] << 4 : 0)
    }
  }

  /// Rounds to the nearest integer, and a half up, even if a rounding error made it smaller.
  private static func rounded(_ value: Double) -> Int { Int(value + 0.5 + CosineSums.noise) }
}
