import ImageCache
import TestSupport
import Testing

/// Small files that would take far more work to decode than images of their size should. Truncated copies show how much
/// the decoder reads: only the bytes it needs can be missing.
@Suite struct `Decompression bombs` {
  private static let specs = [ThumbnailSpec(width: 16)]

  private func code(_ bytes: [UInt8], specs: [ThumbnailSpec] = specs) -> ImageError.Code? {
    do throws(ImageError) {
      _ = try Renderer().render(bytes, specs: specs)
      return nil
    } catch {
      return error.code
    }
  }

  /// Returns a gray image of zeros with `extra` more zeros after its last row.
  private static func png(width: Int, height: Int, isInterlaced: Bool, extra: Int) -> [UInt8] {
    let sides = [width, height].flatMap { side in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: side >> $0) } }
    let rows = isInterlaced ? 4 * (width + 1) * (height + 1) : (width + 1) * height
    return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
      + SampleImage.pngChunk("IHDR", sides + [8, 0, 0, 0, isInterlaced ? 1 : 0])
      + SampleImage.pngChunk("IDAT", BodyCoding.zlib(Array(repeating: 0, count: rows + extra)))
      + SampleImage.pngChunk("IEND", [])
  }

  @Test(arguments: [(1, 1, false), (1, 1, true), (40, 30, false), (40, 30, true), (40, 31, true), (3, 2, true)])
  func `Zeros after the last row of a PNG file are not inflated`(width: Int, height: Int, isInterlaced: Bool) throws {
    let bomb = Self.png(width: width, height: height, isInterlaced: isInterlaced, extra: 48 << 20)
    // The first 24 KiB inflate to about 24 MB. The rest is not read, so a truncated copy gives the same result.
    try #require(bomb.count > 40 << 10)

    for bytes in [bomb, Array(bomb.prefix(32 << 10))] {
      let rendering = try Renderer().render(bytes, specs: Self.specs)
      #expect(rendering.warnings.contains { $0.contains("after its last row") }, "\(rendering.warnings)")
      #expect(
        try DecodedPixels(rendering.thumbnails[0]).samples.enumerated().allSatisfy { $1 == ($0 % 4 == 3 ? 255 : 0) })
    }
  }

  @Test func `A PNG file with a little data after its last row is read to its end`() throws {
    let file = Self.png(width: 40, height: 30, isInterlaced: false, extra: 2000)

    #expect(code(file) == nil)
    #expect(code(Array(file.dropLast(20))) == .truncated)
  }

  /// The thumbnails need every coefficient, because scans that do not affect the output are skipped at no cost.
  @Test(arguments: ["progressive.jpg", "arithmetic.jpg"])
  func `Scans that visit the same blocks again and again exceed a limit`(name: String) throws {
    let (bomb, specs) = (try Fixtures.bomb(name), [ThumbnailSpec(width: 1000)])
    let scans = bomb.indices.dropLast().filter { bomb[$0] == 0xFF && bomb[$0 + 1] == 0xDA }
    try #require(scans.count > 90)

    // Each scan of luma visits 65,536 blocks. The file may visit 3.1 million, which is 48 scans at most.
    #expect(code(bomb, specs: specs) == .decodeLimit)
    #expect(code(Array(bomb.prefix(scans[62])), specs: specs) == .decodeLimit)
    // As many scans as the longest scripts of encoders have.
    #expect(code(bomb.prefix(scans[30]) + [0xFF, 0xD9], specs: specs) == nil)
  }

  @Test func `A small image with many scans is decoded`() throws {
    #expect(try code(Fixtures.bomb("harmless.jpg"), specs: [ThumbnailSpec(width: 100)]) == nil)
  }
}
