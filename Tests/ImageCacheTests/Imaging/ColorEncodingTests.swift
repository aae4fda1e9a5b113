import Foundation
import TestSupport
import Testing

@testable import ImageCache

@Suite struct `Colors of PNG files without a profile` {
  /// Renders a PNG of one color with additional chunks before its image data, and returns the color.
  private func color(_ sample: [UInt8], _ chunks: [UInt8]...) throws -> [UInt8] {
    let bitmap = try Bitmap(size: PixelSize(width: 4, height: 4), layout: sample.count == 1 ? .gray : .rgb)
    for index in 0..<16 * sample.count { bitmap.planes[0].samples[index] = sample[index % sample.count] }
    let file = try PNGEncoder(ThumbnailSpec(width: 4)).encode(bitmap)
    let rendering = try Renderer().render(
      Array(file.prefix(33) + chunks.joined() + file.dropFirst(33)), specs: [ThumbnailSpec(width: 4)])
    return Array(try DecodedPixels(rendering.thumbnails[0]).at(1, 1).prefix(3))
  }

  private static let p3 = [0.3127, 0.3290, 0.680, 0.320, 0.265, 0.690, 0.150, 0.060]
  private static let rec2020 = [0.3127, 0.3290, 0.708, 0.292, 0.170, 0.797, 0.131, 0.046]
  private static let srgb = [0.3127, 0.3290, 0.64, 0.33, 0.30, 0.60, 0.15, 0.06]

  private func cHRM(_ points: [Double]) -> [UInt8] {
    let numbers = points.map { UInt32(($0 * 100_000).rounded()) }
    return SampleImage.pngChunk(
      "cHRM", numbers.flatMap { number in (0..<4).map { UInt8(number >> (24 - 8 * $0) & 255) } })
  }

  private func gAMA(_ gamma: Double) -> [UInt8] {
    let number = UInt32((gamma * 100_000).rounded())
    return SampleImage.pngChunk("gAMA", (0..<4).map { UInt8(number >> (24 - 8 * $0) & 255) })
  }

  private func cICP(_ primaries: UInt8, _ transfer: UInt8) -> [UInt8] {
    SampleImage.pngChunk("cICP", [primaries, transfer, 0, 1])
  }

  // MARK: The expected colors, by the equations of IEC 61966-2-1 and SMPTE RP 177

  private typealias Matrix = [[Double]]

  private func product(_ a: Matrix, _ b: [Double]) -> [Double] {
    a.map { row in zip(row, b).reduce(0) { $0 + $1.0 * $1.1 } }
  }

  private func inverse(_ m: Matrix) -> Matrix {
    func minor(_ r: Int, _ c: Int) -> Double {
      let (a, b, x, y) = ((r + 1) % 3, (r + 2) % 3, (c + 1) % 3, (c + 2) % 3)
      return m[a][x] * m[b][y] - m[a][y] * m[b][x]
    }
    let determinant = (0..<3).reduce(0) { $0 + m[0][$1] * minor(0, $1) }
    return (0..<3).map { r in (0..<3).map { c in minor(c, r) / determinant } }
  }

  /// Returns the matrix from light of these primaries to CIE XYZ.
  private func toXYZ(_ points: [Double]) -> Matrix {
    func xyz(_ index: Int) -> [Double] {
      let (x, y) = (points[2 * index], points[2 * index + 1])
      return [x / y, 1, (1 - x - y) / y]
    }
    let columns = (1...3).map(xyz)
    let primaries: Matrix = (0..<3).map { row in columns.map { $0[row] } }
    let scale = product(inverse(primaries), xyz(0))
    return primaries.map { row in zip(row, scale).map { $0 * $1 } }
  }

  private func expected(_ sample: [UInt8], _ primaries: [Double], _ light: (Double) -> Double) -> [UInt8] {
    let xyz = product(toXYZ(primaries), sample.map { light(Double($0) / 255) })
    return product(inverse(toXYZ(Self.srgb)), xyz).map { value in
      let s = value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055
      return UInt8(max(0, min(255, (255 * s).rounded())))
    }
  }

  private func sRGBLight(_ s: Double) -> Double { s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4) }

  private func differs(_ a: [UInt8], _ b: [UInt8]) -> Int { zip(a, b).map { abs(Int($0) - Int($1)) }.max() ?? 0 }

  private static let samples: [[UInt8]] = [
    [200, 100, 100], [90, 140, 100], [120, 110, 190], [128, 128, 128], [30, 40, 35],
  ]

  @Test(arguments: samples)
  func `Chromaticities alone are combined with the curve of sRGB`(sample: [UInt8]) throws {
    let want = expected(sample, Self.p3, sRGBLight)
    #expect(try differs(color(sample, cHRM(Self.p3)), want) <= 1)
  }

  @Test(arguments: samples)
  func `Chromaticities are combined with a gamma`(sample: [UInt8]) throws {
    let want = expected(sample, Self.p3) { pow($0, 1 / 0.5556) }
    #expect(try differs(color(sample, gAMA(0.5556), cHRM(Self.p3)), want) <= 1)
  }

  @Test(arguments: samples)
  func `Code points name primaries and a curve`(sample: [UInt8]) throws {
    #expect(try differs(color(sample, cICP(12, 13)), expected(sample, Self.p3, sRGBLight)) <= 1)
    #expect(try differs(color(sample, cICP(9, 4)), expected(sample, Self.rec2020) { pow($0, 2.2) }) <= 1)
    #expect(try color(sample, cICP(1, 13)) == sample)
  }

  @Test func `Code points override a gamma and chromaticities, and sRGB overrides both of these`() throws {
    let (sample, sRGB) = ([UInt8(200), 100, 100], SampleImage.pngChunk("sRGB", [0]))

    #expect(try color(sample, cICP(1, 13), cHRM(Self.p3), gAMA(1)) == sample)
    #expect(try color(sample, sRGB, cHRM(Self.p3), gAMA(0.45455)) == sample)
    #expect(try color(sample, cHRM(Self.srgb)) == sample)
  }

  /// An ICC profile with nothing but the tag `cicp`.
  private func profile(_ points: [UInt8], space: String = "RGB ", start: UInt8 = 144) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 128)
    bytes.replaceSubrange(16..<20, with: space.utf8)
    bytes += [0, 0, 0, 1] + "cicp".utf8 + [0, 0, 0, start, 0, 0, 0, 12] + "cicp".utf8
    return bytes + [0, 0, 0, 0] + points
  }

  @Test func `The code points of a profile for high dynamic range are read`() {
    let rec2020 = ColorEncoding(primaries: 9, transfer: 16)
    #expect(rec2020 != nil && ColorEncoding(profile: profile([9, 16, 0, 1])) == rec2020)
    #expect(ColorEncoding(profile: profile([12, 18, 0, 1])) == ColorEncoding(primaries: 12, transfer: 18))
    for other in [
      profile([9, 13, 0, 1]), profile([9, 16, 9, 1]), profile([9, 16, 0, 0]), profile([2, 16, 0, 1]),
      profile([9, 16, 0, 1], space: "GRAY"), profile([9, 16, 0, 1], start: 145), profile([9, 16, 0, 1], start: 255),
      profile([9, 16, 0, 1], start: 0),
    ] { #expect(ColorEncoding(profile: other) == nil) }
    let whole = profile([9, 16, 0, 1])
    for count in 0..<whole.count { #expect(ColorEncoding(profile: Array(whole.prefix(count))) == nil) }
  }

  /// Diffuse white is at 58 % of the signal of PQ and at 75 % of that of HLG (ITU-R BT.2408-7, table 1).
  @Test(arguments: [(UInt8(16), UInt8(148)), (18, 191)])
  func `White of high dynamic range is light, and its brightest light is not darker`(transfer: UInt8, white: UInt8)
    throws
  {
    let colors = try [0, white / 2, white, 255].map { try color([$0, $0, $0], cICP(9, transfer))[0] }

    #expect(colors == colors.sorted() && Set(colors).count == 4)
    #expect(colors[0] == 0 && (244...250).contains(colors[2]) && colors[3] >= 254)
  }

  @Test func `Gray samples have a curve, and no chromaticities`() throws {
    #expect(try color([100], cHRM(Self.p3)) == [100, 100, 100])
    #expect(try differs(color([100], cICP(9, 8)), Array(repeating: 168, count: 3)) <= 1)
  }

  @Test func `Impossible chromaticities and unknown code points are ignored with a warning`() throws {
    let file = SampleImage.png(width: 8, height: 8)
    let plain = try Renderer().render(file, specs: [ThumbnailSpec(width: 8)])
    for chunk in [
      cHRM([0, 0, 0, 0, 0, 0, 0, 0]), cHRM([0, 0] + Self.srgb.dropFirst(2)),
      cHRM([0.3127, 0] + Self.srgb.dropFirst(2)),
      cHRM([0.3127, 0.3290, 9, 7, 0.3, 0.6, 0.15, 0.06]), cHRM([0.3, 0.3, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2]), cICP(2, 2),
      cICP(12, 99),
    ] {
      let rendering = try Renderer().render(
        Array(file.prefix(33) + chunk + file.dropFirst(33)), specs: [ThumbnailSpec(width: 8)])
      #expect(rendering.thumbnails == plain.thumbnails && !rendering.warnings.isEmpty)
    }
  }
}
