import ImageCache
import TestSupport
import Testing

@Suite struct `Decoded pixels against an independent implementation` {
  @Test(arguments: Fixtures.exact)
  func `Every pixel is that of the reference`(name: String) throws {
    let ours = try DecodedPixels(file: Fixtures.exactImage(name)).withoutHiddenColors
    let reference = try Fixtures.exactPixels(name)

    #expect(ours.size == reference.size)
    try #require(ours.samples.count == reference.samples.count)
    let difference = zip(ours.samples, reference.samples).map { abs(Int($0) - Int($1)) }.max()
    #expect(difference == 0)
  }

  @Test(arguments: Fixtures.exact)
  func `More bytes never change a source once it is recognized`(name: String) throws {
    let bytes = try Fixtures.exactImage(name)
    let source = try Renderer().render(bytes, specs: []).source

    let known = try (0..<bytes.count + 1).cutPositions(count: 600).map {
      try Renderer().judge(prefix: bytes.span.extracting(first: $0))
    }

    #expect(known.drop { $0 == nil }.allSatisfy { $0 == source })
    #expect(known.last == source)
  }

  @Test(arguments: Fixtures.exact.filter { (try? Fixtures.exactImage($0).count < 270) ?? false })
  func `Any single flipped bit in a small file gives a thumbnail or an error`(name: String) throws {
    let bytes = try Fixtures.exactImage(name)
    let renderer = Renderer(maxPixels: 1 << 12)

    for bit in flippedBits(of: bytes) {
      var flipped = bytes
      flipped[bit / 8] ^= 1 << UInt8(bit % 8)
      _ = try? renderer.render(flipped, specs: [ThumbnailSpec(width: 8)])
    }
  }

  /// Damage gives other pixels or an error. Arithmetic that overflows, or an index out of range, would trap.
  @Test(arguments: Fixtures.exact)
  func `Damage never traps`(name: String) throws {
    let bytes = try Fixtures.exactImage(name)
    var random = SeededGenerator(seed: UInt64(bytes.count))
    let renderer = Renderer(maxPixels: 1 << 16)

    for _ in 0..<40 {
      var damaged = bytes
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        // Headers are short, so half of the damage is near the start.
        let end = Bool.random(using: &random) ? min(70, bytes.count) : bytes.count
        damaged[Int.random(in: 0..<end, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      _ = try? renderer.render(damaged, specs: [ThumbnailSpec(width: 8)])
    }
  }
}

extension DecodedPixels {
  /// The pixels with black instead of the colors of transparent ones.
  fileprivate var withoutHiddenColors: DecodedPixels {
    var visible = self
    for pixel in 0..<size.area where samples[pixel * 4 + 3] == 0 {
      for channel in 0..<3 { visible.samples[pixel * 4 + channel] = 0 }
    }
    return visible
  }
}
