import Foundation

/// A blurred image in about 25 bytes, with its aspect ratio and its transparency, to show until the image has loaded.
///
/// The format is that of https://github.com/evanw/thumbhash, for which there are decoders in many languages. They are
/// usually given the hash as ``base64``.
public struct ThumbHash: Hashable, Sendable {
  /// The longest side of an image that is encoded, in pixels.
  public static let longestSide = 100

  /// The hash: 17 to 25 bytes if it was made from an image.
  public let bytes: [UInt8]

  /// Creates a hash from its bytes; nil if their number is not the one that their header demands.
  public init?(bytes: [UInt8]) {
    guard bytes.count >= 5, bytes.count == Self.length(shape: Shape(header: bytes)) else { return nil }
    self.bytes = bytes
  }

  /// Creates a hash from its Base64 text, with or without padding; nil for any other text.
  public init?(base64: String) {
    let padding = String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
    guard let data = Data(base64Encoded: base64 + padding) else { return nil }
    self.init(bytes: [UInt8](data))
  }

  /// The bytes in Base64 (RFC 4648, section 4), with padding.
  public var base64: String { Data(bytes).base64EncodedString() }

  /// True if parts of the image are transparent.
  public var hasAlpha: Bool { Shape(header: bytes).hasAlpha }
}

extension ThumbHash: CustomStringConvertible {
  /// The hash as ``base64``.
  public var description: String { base64 }
}

extension ThumbHash {
  /// The number of waves in the channels.
  struct Shape: Hashable {
    /// The number of waves of lightness across and down, at least 1.
    var across, down: Int
    /// True if there is a channel of alpha, and with it fewer waves of lightness.
    var hasAlpha: Bool

    /// The most waves of lightness in one direction.
    static func limit(hasAlpha: Bool) -> Int { hasAlpha ? 5 : 7 }

    /// The waves of yellow against blue and of red against green, in each direction.
    static let colorWaves = 3
    /// The waves of alpha in each direction.
    static let alphaWaves = 5

    /// Chooses the shape for an image of this size.
    init(_ size: PixelSize, hasAlpha: Bool) {
      let (limit, longer) = (Self.limit(hasAlpha: hasAlpha), max(size.width, size.height))
      let count = { side in max(1, (2 * limit * side + longer) / (2 * longer)) }
      (across, down, self.hasAlpha) = (count(size.width), count(size.height), hasAlpha)
    }

    /// Reads the shape in the first 5 bytes of a hash.
    init(header: [UInt8]) {
      hasAlpha = header[2] & 0x80 != 0
      let (limit, shorter) = (Self.limit(hasAlpha: hasAlpha), Int(header[3] & 7))
      (across, down) = header[4] & 0x80 != 0 ? (limit, shorter) : (shorter, limit)
    }

    /// The channels in the order of the hash, each as its number of waves across and down.
    var channels: [(across: Int, down: Int)] {
      let (color, alpha) = (Self.colorWaves, Self.alphaWaves)
      let opaque = [(max(3, across), max(3, down)), (color, color), (color, color)]
      return hasAlpha ? opaque + [(alpha, alpha)] : opaque
    }
  }

  /// Calls `body` with the waves of a channel in the order of the hash: each is a number of half periods across, and
  /// one down. The first wave, with none, is the mean.
  fileprivate static func forEachWave(across: Int, down: Int, _ body: (_ across: Int, _ down: Int) -> Void) {
    for row in 0..<down {
      for column in 0..<across where column * down < across * (down - row) { body(column, row) }
    }
  }

  private static func length(shape: Shape) -> Int {
    var waves = 0
    for (across, down) in shape.channels { forEachWave(across: across, down: down) { _, _ in waves += 1 } }
    return (shape.hasAlpha ? 6 : 5) + (waves - shape.channels.count + 1) / 2
  }
}

// MARK: Encoding

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

// MARK: Decoding

extension ThumbHash {
  /// Returns the image at `size`, whose sides are clamped to 1...1024: red, green, blue and straight alpha of each
  /// pixel, row after row. The aspect ratio should be that of the encoded image.
  public func pixels(in size: PixelSize) -> [UInt8] {
    let (size, channels) = (Self.drawable(size), channels)
    let (across, down) = (CosineSums.waves(size.width), CosineSums.waves(size.height))
    var pixels: [UInt8] = []
    pixels.reserveCapacity(size.area * 4)
    for y in 0..<size.height {
      let rows = channels.map { $0.row(down[y]) }
      for x in 0..<size.width {
        let values = rows.map { ($0 * across[x]).sum() }
        let blue = values[0] - 2 / 3 * values[1]
        let red = (3 * values[0] - blue + values[2]) / 2
        let alpha = values.count == 4 ? values[3] : 1
        pixels += [red, red - values[2], blue, alpha].map { UInt8(255 * min(max($0, 0), 1)) }
      }
    }
    return pixels
  }

  private static func drawable(_ size: PixelSize) -> PixelSize {
    PixelSize(width: min(max(size.width, 1), 1024), height: min(max(size.height, 1), 1024))
  }

  /// Returns the image at `size`, which is clamped like that of ``pixels(in:)``, as a PNG file. Throws `outOfMemory` if
  /// an allocation fails.
  ///
  /// ```swift
  /// func dataURL(_ hash: ThumbHash) throws -> String {
  ///   let file = try hash.png(in: PixelSize(width: 16, height: 12))
  ///   return "data:image/png;base64,\(Data(file).base64EncodedString())"
  /// }
  /// ```
  public func png(in size: PixelSize) throws(ImageError) -> [UInt8] {
    let pixels = pixels(in: size)
    let bitmap = try Bitmap(size: Self.drawable(size), layout: .rgba)
    bitmap.write { samples in
      for index in pixels.indices { samples[index] = pixels[index] }
    }
    return try PNGEncoder(.placeholder).encode(bitmap)
  }

  /// The waves of one channel: the height of each by its half periods down, and then across.
  private struct Channel {
    var heights = [CosineSums.Waves](repeating: .zero, count: CosineSums.Waves.scalarCount)

    /// Returns the heights of the waves across at the row where the waves down are these.
    func row(_ down: CosineSums.Waves) -> CosineSums.Waves {
      heights.indices.reduce(.zero) { $0 + heights[$1] * down[$1] }
    }
  }

  private var channels: [Channel] {
    let shape = Shape(header: bytes)
    let (colors, scales) = (bits(0, 24), bits(24, 16))
    let level = { (value: Int, place: Int) in Double(value >> place & 63) }
    // The colors are made stronger by a quarter, because coarse steps weaken them.
    var channels = [
      (level(colors, 0) / 63, Double(colors >> 18 & 31) / 31),
      (level(colors, 6) / 31.5 - 1, level(scales, 3) / 63 * 1.25),
      (level(colors, 12) / 31.5 - 1, level(scales, 9) / 63 * 1.25),
    ]
    if shape.hasAlpha { channels.append((Double(bits(40, 4)) / 15, Double(bits(44, 4)) / 15)) }
    var place = shape.hasAlpha ? 48 : 40
    return zip(channels, shape.channels).map { level, waves in
      var channel = Channel()
      Self.forEachWave(across: waves.across, down: waves.down) { across, down in
        guard across + down > 0 else { return channel.heights[0][0] = level.0 }
        channel.heights[down][across] = (Double(bits(place, 4)) / 7.5 - 1) * level.1 * 2
        place += 4
      }
      return channel
    }
  }

  /// Returns `count` bits from number `place` on, the lowest first.
  private func bits(_ place: Int, _ count: Int) -> Int {
    let start = place / 8
    let value = bytes[start..<min(start + 4, bytes.count)].reversed().reduce(0) { $0 << 8 | Int($1) }
    return value >> (place % 8) & ((1 << count) - 1)
  }
}

/// The sums over one channel of an image, each weighed by a wave across and a wave down.
///
/// A wave in two directions is the product of one in each. So every row is first summed with the waves across, and only
/// these few sums are multiplied by the waves down.
private struct CosineSums {
  /// Eight waves at one place: element `n` has `n` half periods over the whole side.
  typealias Waves = SIMD8<Double>

  /// Differences below this are rounding errors. Those of images are above 1e-7: a step of one color in one pixel.
  static let noise = 1e-9

  /// The sums of a channel, normalized.
  struct Terms {
    /// The mean of the channel.
    var mean: Double
    /// The largest of the other sums, without its sign.
    var scale: Double
    /// The other sums divided by the scale, from 0 for -1 to 1 for 1. All are 0 if the scale is.
    var waves: [Double]
  }

  private var sums = [Waves](repeating: .zero, count: Waves.scalarCount)

  /// Adds a row, summed with the waves across. `down` are the waves at this row.
  mutating func add(_ row: Waves, at down: Waves) {
    for index in sums.indices { sums[index] += row * down[index] }
  }

  /// Returns the terms of a channel with so many waves of an image with `count` pixels.
  func terms(across: Int, down: Int, count: Int) -> Terms {
    var values: [Double] = []
    ThumbHash.forEachWave(across: across, down: down) { values.append(sums[$1][$0] / Double(count)) }
    let mean = values.removeFirst()
    let largest = values.reduce(0) { max($0, abs($1)) }
    guard largest > Self.noise else { return Terms(mean: mean, scale: 0, waves: values.map { _ in 0 }) }
    return Terms(mean: mean, scale: largest, waves: values.map { 0.5 + 0.5 / largest * $0 })
  }

  /// Returns the waves at each of `count` places on a side.
  static func waves(_ count: Int) -> [Waves] {
    (0..<count).map { place in
      let first = cos(Double.pi / Double(count) * (Double(place) + 0.5))
      var waves = Waves(repeating: 1)
      waves[1] = first
      // The recurrence of Chebyshev polynomials saves all cosines but one.
      for index in 2..<Waves.scalarCount { waves[index] = 2 * first * waves[index - 1] - waves[index - 2] }
      return waves
    }
  }
}
