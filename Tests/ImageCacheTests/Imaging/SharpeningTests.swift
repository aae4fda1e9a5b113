import TestSupport
import Testing

@testable import ImageCache

@Suite struct `Sharpening` {
  private static let size = PixelSize(width: 8, height: 5)

  private static func pixels(
    _ kind: OrientedImage.Kind, _ percent: Int, color: (_ x: Int, _ y: Int) -> [UInt8]
  ) throws -> DecodedPixels {
    let file = try OrientedImage.file(kind, .upright, size: size, color: color)
    let spec = ThumbnailSpec(width: 8, format: .png, sharpening: percent)
    return try DecodedPixels(try #require(try Renderer().render(file, specs: [spec]).thumbnails.first))
  }

  /// Three of the eight neighbors of a pixel at the edge are 100 away, so at 33 percent, it moves by 33 * 300 / 800.
  @Test(arguments: [(OrientedImage.Kind.png, 33, 12), (.grayPNG, 33, 12), (.alphaPNG, 33, 12), (.png, 100, 38)])
  func `Pixels at an edge move away from each other, by the percentage`(
    kind: OrientedImage.Kind, percent: Int, change: Int
  ) throws {
    let pixels = try Self.pixels(kind, percent) { x, _ in x < 4 ? [100, 100, 100, 255] : [200, 200, 200, 255] }

    for y in 0..<Self.size.height {
      #expect((0..<8).map { Int(pixels.at($0, y)[0]) } == [100, 100, 100, 100 - change, 200 + change, 200, 200, 200])
    }
  }

  @Test func `An even image stays as it is, and values end at black and white`() throws {
    let even = try Self.pixels(.png, 200) { _, _ in [10, 99, 250, 255] }
    let sharp = try Self.pixels(.png, 200) { x, _ in x < 4 ? [0, 0, 0, 255] : [255, 255, 255, 255] }

    #expect(even.samples.chunked(4).allSatisfy { $0 == [10, 99, 250, 255] })
    #expect((0..<8).map { sharp.at($0, 2)[1] } == [0, 0, 0, 0, 255, 255, 255, 255])
  }

  @Test func `The colors of transparent pixels do not show`() throws {
    let pixels = try Self.pixels(.alphaPNG, 100) { x, _ in x < 4 ? [100, 100, 100, 255] : [255, 0, 0, 0] }

    for x in 0..<4 { #expect(pixels.at(x, 2) == [100, 100, 100, 255]) }
    #expect((4..<8).allSatisfy { pixels.at($0, 2)[3] == 0 })
  }

  @Test func `The luma of a photo is sharpened, and its chroma stays`() throws {
    let photo = SampleImage.jpeg(width: 400, height: 300)
    let specs = [0, 60].map { ThumbnailSpec(width: 100, format: .jpeg, quality: 95, sharpening: $0) }

    let thumbnails = try Renderer().render(photo, specs: specs).thumbnails.map { try DecodedPixels($0) }

    let chroma = thumbnails.map { pixels in pixels.samples.chunked(4).map { Int($0[2]) - Int($0[0]) } }
    let differences = zip(chroma[0], chroma[1]).map { abs($0 - $1) }
    #expect(thumbnails[0] != thumbnails[1])
    #expect(differences.reduce(0, +) < 2 * differences.count)
  }
}

extension [UInt8] {
  fileprivate func chunked(_ count: Int) -> [[UInt8]] {
    stride(from: 0, to: self.count, by: count).map { Array(self[$0..<Swift.min($0 + count, self.count)]) }
  }
}
