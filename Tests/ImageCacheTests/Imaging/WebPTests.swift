#if WebP
  import TestSupport
  import Testing

  @testable import ImageCache

  @Suite struct `WebP files` {
    private static let tagged = Fixtures.webp.filter { name in
      ["profile", "orientation", "exif"].contains { name.hasPrefix($0) }
    }
    private static let plain = Fixtures.webp.filter { !tagged.contains($0) }

    private func decoder(_ bytes: [UInt8]) throws -> WebPDecoder {
      try #require(try WebPDecoder(prefix: bytes.span, limits: DecodingLimits(maxPixels: .max)))
    }

    private func code(_ bytes: [UInt8]) -> ImageError.Code? {
      do throws(ImageError) {
        _ = try Renderer(maxPixels: 1 << 20).render(bytes, specs: [ThumbnailSpec(width: 16, format: .png)])
        return nil
      } catch {
        return error.code
      }
    }

    @Test func `The fixtures cover 38 plain files and 12 with metadata`() {
      #expect(Self.plain.count == 38 && Self.tagged.count == 12)
    }

    @Test(arguments: plain)
    func `Pixels are those of an independent implementation`(name: String) throws {
      let expected = try #require(try Fixtures.storedPixels(ofWebP: name))

      let ours = try DecodedPixels(file: Fixtures.webp(name))

      #expect(ours.size == expected.size)
      try #require(ours.size == expected.size)
      // The color of a fully transparent pixel has no meaning.
      let differs = (0..<ours.size.area).contains { pixel in
        let (left, right) = (ours.samples[pixel * 4..<pixel * 4 + 4], expected.samples[pixel * 4..<pixel * 4 + 4])
        return left.last != right.last || left.last != 0 && left != right
      }
      #expect(!differs)
    }

    @Test(arguments: tagged)
    func `A file with metadata gives upright thumbnails in sRGB`(name: String) throws {
      let spec = ThumbnailSpec(width: 48, format: .png)

      let rendering = try Renderer().render(Fixtures.webp(name), specs: [spec])

      let (ours, seen) = (try DecodedPixels(rendering.thumbnails[0]), try Fixtures.seenPixels(ofWebP: name))
      #expect(ours.size == seen.size)
      try #require(ours.size == seen.size)
      #expect(ours.meanError(to: seen).allSatisfy { $0 <= 2 }, "\(ours.meanError(to: seen))")
      #expect(ours.peakSignal(to: seen) >= 40, "\(ours.peakSignal(to: seen)) dB")
      #expect(rendering.warnings == [] && rendering.source.format == .webp)
    }

    @Test(arguments: Fixtures.webp)
    func `A file cut anywhere behind its signature is truncated, and its header is read early`(name: String) throws {
      let whole = try Fixtures.webp(name)
      let end = try decoder(whole).webp.end

      for count in (12..<end).cutPositions(count: 75) {
        #expect(code(Array(whole.prefix(count))) == .truncated, "cut to \(count) of \(whole.count)")
      }

      let prefix = Array(whole.prefix(name.hasPrefix("profile") ? 800 : 100))
      #expect(try Renderer().judge(prefix: prefix.span)?.size == decoder(whole).header.source.size)
    }

    @Test(arguments: ["lossy-3x5", "lossless-3x5", "alpha-few", "animated-offset-alpha", "exif-before"])
    func `Any flipped bit in the first 200 bytes gives a thumbnail or an error`(name: String) throws {
      let bytes = try Fixtures.webp(name)
      var outcomes: [ImageError.Code?: Int] = [:]

      for position in bytes.indices.prefix(200) {
        for bit in 0..<8 {
          var flipped = bytes
          flipped[position] ^= 1 << bit
          outcomes[code(flipped), default: 0] += 1
        }
      }

      #expect(outcomes[.decodeError, default: 0] > 0 && outcomes[nil, default: 0] > 0, "\(outcomes)")
    }

    @Test(arguments: Fixtures.webp)
    func `Random damage gives a thumbnail or an error`(name: String) throws {
      let bytes = try Fixtures.webp(name)
      var random = SeededGenerator(seed: 11)

      for _ in 0..<40 {
        var damaged = bytes
        for _ in 0..<3 { damaged[Int.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random) }
        // Either result is fine, as long as rendering returns.
        _ = code(damaged)
      }
    }

    @Test func `Overwritten image data of a lossless file is damage`() throws {
      var bytes = try Fixtures.webp("lossless")
      for index in 25..<400 { bytes[index] = 0xFF }

      #expect(code(bytes) == .decodeError)
    }

    @Test func `A shrunk image leaves the filter twice the resolution and looks the same`() throws {
      let bytes = try Fixtures.webp("lossy-large")
      var decoder = try decoder(bytes)
      for (reductions, factor) in [([16.9, 8], 4), ([3.9], 1), ([5.9], 1), ([7.9], 3)] {
        let targets = reductions.map { DecodingDemand.Target(reduction: $0) }
        decoder.adapt(to: DecodingDemand(targets: targets, form: .pixels))
        #expect(decoder.shrink == factor)
      }

      let spec = ThumbnailSpec(width: 48, format: .png)
      let shrunk = try DecodedPixels(Renderer().render(bytes, specs: [spec]).thumbnails[0])
      // A second spec that needs every pixel prevents shrinking.
      let whole = try Renderer().render(bytes, specs: [ThumbnailSpec(width: 811, format: .png), spec])

      #expect(shrunk.peakSignal(to: try DecodedPixels(whole.thumbnails[1])) >= 45)
    }

    @Test func `A header declares its canvas, and frames outside it are damage`() throws {
      var bytes = try Fixtures.webp("animated-offset")
      #expect(try decoder(bytes).header.storedSize == PixelSize(width: 80, height: 60))
      // The horizontal position of the first frame, in units of two pixels.
      bytes[52] = 40

      #expect(code(bytes) == .decodeError)
    }

    @Test func `Too many pixels are refused by the header`() {
      let huge: [UInt8] = [0xFF, 0xFF, 0]
      let canvas = Array("VP8X".utf8) + [10, 0, 0, 0, 2, 0, 0, 0] + huge + huge
      let bytes = Array("RIFF".utf8) + [0, 1, 0, 0] + Array("WEBP".utf8) + canvas

      let error = #expect(throws: ImageError.self) { try Renderer().judge(prefix: bytes.span) }
      #expect(error?.code == .tooManyPixels)
    }

    @Test func `The budget is for the pixels, plus a few bytes per pixel for lossless files and alpha`() throws {
      let lossy = try decoder(Fixtures.webp("lossy-large"))
      #expect(lossy.peakBytes == 811 * 605 * 3 + 262_144 + 811 * 256)
      let area = 97 * 97
      #expect(try decoder(Fixtures.webp("lossless-alpha")).peakBytes == area * 4 + 262_144 + 97 * 256 + area * 5)
      #expect(try decoder(Fixtures.webp("alpha")).peakBytes == area * 4 + 262_144 + 97 * 256 + area * 7)
    }
  }
#endif
