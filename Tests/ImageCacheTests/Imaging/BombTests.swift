import ImageCache
import TestSupport
import Testing

/// Small files that would take far more work than a picture of their size. How much of them is read shows in files that
/// are cut off: what is not read is not missed.
@Suite struct `Bombs` {
  private static let specs = [ThumbnailSpec(width: 16)]

  private func code(_ bytes: [UInt8], specs: [ThumbnailSpec] = specs) -> ImageError.Code? {
    do throws(ImageError) {
      _ = try Renderer().render(bytes, specs: specs)
      return nil
    } catch {
      return error.code
    }
  }

  /// A gray picture of zeros, behind whose last row come `extra` more.
  private static func png(width: Int, height: Int, isInterlaced: Bool, extra: Int) -> [UInt8] {
    let sides = [width, height].flatMap { side in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: side >> $0) } }
    let rows = isInterlaced ? 4 * (width + 1) * (height + 1) : (width + 1) * height
    return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
      + SampleImage.pngChunk("IHDR", sides + [8, 0, 0, 0, isInterlaced ? 1 : 0])
      + SampleImage.pngChunk("IDAT", BodyCoding.zlib(Array(repeating: 0, count: rows + extra)))
      + SampleImage.pngChunk("IEND", [])
  }

  @Test(arguments: [(1, 1, false), (1, 1, true), (40, 30, false), (40, 30, true), (40, 31, true), (3, 2, true)])
  func `of zeros behind the last row of a PNG are not inflated`(width: Int, height: Int, isInterlaced: Bool) throws {
    let bomb = Self.png(width: width, height: height, isInterlaced: isInterlaced, extra: 48 << 20)
    // 24 KiB of it inflate to some 24 MB: the rest is not looked at, whole or cut off.
    try #require(bomb.count > 40 << 10)
    for bytes in [bomb, Array(bomb.prefix(32 << 10))] {
      let rendering = try Renderer().render(bytes, specs: Self.specs)
      #expect(rendering.warnings.contains { $0.contains("behind its last row") }, "\(rendering.warnings)")
      #expect(try Pixels(rendering.thumbnails[0]).samples.enumerated().allSatisfy { $1 == ($0 % 4 == 3 ? 255 : 0) })
    }
  }

  @Test func `are not what has a little behind its last row`() throws {
    let file = Self.png(width: 40, height: 30, isInterlaced: false, extra: 2000)
    #expect(code(file) == nil)
    #expect(code(Array(file.dropLast(20))) == .truncated)
  }

  /// Thumbnails that need every coefficient: scans that do not show are left out, and cost nothing.
  @Test(arguments: ["progressive.jpg", "arithmetic.jpg"])
  func `of scans that pass the same blocks again and again are a limit`(name: String) throws {
    let (bomb, specs) = (try Fixtures.bomb(name), [ThumbnailSpec(width: 1000)])
    let scans = bomb.indices.dropLast().filter { bomb[$0] == 0xFF && bomb[$0 + 1] == 0xDA }
    try #require(scans.count > 90)
    // Each pass over luma is 65,536 blocks: of 3.1 million that the file may pass, 48 scans at most.
    #expect(code(bomb, specs: specs) == .decodeLimit)
    #expect(code(Array(bomb.prefix(scans[62])), specs: specs) == .decodeLimit)
    // As many as the longest scripts of encoders have.
    #expect(code(bomb.prefix(scans[30]) + [0xFF, 0xD9], specs: specs) == nil)
  }

  @Test func `are not small pictures in many scans`() throws {
    #expect(try code(Fixtures.bomb("harmless.jpg"), specs: [ThumbnailSpec(width: 100)]) == nil)
  }
}
