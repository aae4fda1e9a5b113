import Testing

@testable import ImageCache

@Suite struct `Decoding a JPEG file shrunk` {
  private func decoded(_ file: [UInt8], shrink: Int) throws -> WholeImage {
    var image = try ImageFile(file.span, limits: DecodingLimits(maxPixels: 10_000_000), decoders: .missing)
    let demand = DecodingDemand(targets: [.init(reduction: Double(2 * shrink), chromaStep: 2)], form: .planes)
    image.decoder.adapt(to: demand)
    let whole = WholeImage()
    var warnings: [String] = []
    try image.decode(file.span, colors: ColorTransformCache(), into: whole, warnings: &warnings)
    return whole
  }

  /// libjpeg-turbo computes the mean without the pixels themselves (jidctred.c). The pixels are compared with those of
  /// another decoder elsewhere.
  @Test(arguments: ["large-gray.jpg", "large-gray-progressive.jpg", "large-444.jpg"], [2, 4, 8])
  func `Every sample is the mean of a square of pixels`(name: String, shrink: Int) throws {
    let file = try Fixtures.image(name)
    let (full, small) = (try decoded(file, shrink: 1), try decoded(file, shrink: shrink))
    let (width, smallWidth) = (full.size.width, small.size.width)
    try #require(small.size == full.size.divided(by: shrink, .down))
    var errors: [Double] = []
    for y in 0..<small.size.height {
      for x in 0..<smallWidth {
        let rows = (0..<shrink).map {
          full.samples[0][(y * shrink + $0) * width + x * shrink..<(y * shrink + $0 + 1) * width]
        }
        let sum = rows.reduce(0) { $0 + $1.prefix(shrink).reduce(0) { $0 + Int($1) } }
        errors.append(abs(Double(sum) / Double(shrink * shrink) - Double(small.samples[0][y * smallWidth + x])))
      }
    }
    // The samples of both images are rounded, and those of the full image are clamped.
    let mean = errors.reduce(0, +) / Double(errors.count)
    #expect(mean < 0.35 && errors.allSatisfy { $0 < 2.5 }, "mean \(mean), \(errors.max() ?? 0)")
  }
}
