extension ThumbnailSpec.Color {
  /// The bits of each component that decide whether two colors count as the same.
  private static let bits = 4

  /// Finds the color that covers most of an image; nil if all of it is transparent. `samples` are red, green, blue and
  /// straight alpha of each pixel.
  ///
  /// Colors whose components agree in their four highest bits count together, weighed by alpha, and the result is the
  /// mean of the group with the most weight. Of two such groups, it is the darker one, by red, then green, then blue.
  init?(dominantIn samples: Span<UInt8>) {
    var weights = [UInt32](repeating: 0, count: 1 << (3 * Self.bits))
    for offset in stride(from: 0, to: samples.count, by: 4) {
      weights[Self.group(samples, offset)] += UInt32(samples[offset + 3])
    }
    let weight = weights.max() ?? 0
    guard weight > 0, let group = weights.firstIndex(of: weight) else { return nil }
    var sums = SIMD4<Int>.zero
    for offset in stride(from: 0, to: samples.count, by: 4) where Self.group(samples, offset) == group {
      let color = SIMD4(Int(samples[offset]), Int(samples[offset + 1]), Int(samples[offset + 2]), 0)
      sums &+= color &* Int(samples[offset + 3])
    }
    let mean = (sums &+ Int(weight) / 2) / Int(weight)
    self.init(red: UInt8(mean.x), green: UInt8(mean.y), blue: UInt8(mean.z))
  }

  @inline(__always)
  private static func group(_ samples: Span<UInt8>, _ offset: Int) -> Int {
    let shift = 8 - bits
    let (red, green, blue) = (Int(samples[offset]), Int(samples[offset + 1]), Int(samples[offset + 2]))
    return ((red >> shift) << bits | green >> shift) << bits | blue >> shift
  }
}
