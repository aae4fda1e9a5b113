import TestSupport
import Testing

@testable import ImageCache

/// Files of which one part contradicts another, or is damaged while the rest is whole.
@Suite struct DisagreementTests {
  private static func exif(_ orientation: UInt8) -> [UInt8] {
    [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, orientation] + Array(repeating: 0, count: 7)
  }

  private static func segment(_ content: [UInt8]) -> [UInt8] {
    let block = Array("Exif\0\0".utf8) + content
    return [0xFF, 0xE1, UInt8((block.count + 2) >> 8), UInt8((block.count + 2) & 255)] + block
  }

  private func size(_ bytes: [UInt8]) throws -> PixelSize {
    try Renderer().render(bytes, specs: [ThumbnailSpec(width: 8)]).source.size
  }

  @Test(
    arguments: [
      ([6, 1], true), ([1, 6], false), ([6, 0], true), ([8, 6, 1], true), ([3, 6], false),
    ] as [([UInt8], Bool)])
  func `The first of several EXIF blocks counts`(orientations: [UInt8], isTurned: Bool) throws {
    let jpeg = SampleImage.jpeg(width: 24, height: 16)
    let png = SampleImage.png(width: 24, height: 16)
    let segments = orientations.flatMap { Self.segment(Self.exif($0)) }
    let chunks = orientations.flatMap { SampleImage.pngChunk("eXIf", Self.exif($0)) }

    let expected = isTurned ? PixelSize(width: 16, height: 24) : PixelSize(width: 24, height: 16)
    #expect(try size(Array(jpeg.prefix(2) + segments + jpeg.dropFirst(2))) == expected)
    #expect(try size(Array(png.prefix(33) + chunks + png.dropFirst(33))) == expected)
  }

  @Test func `A block that cannot be read does not hide the next one`() throws {
    let jpeg = SampleImage.jpeg(width: 24, height: 16)
    let segments = Self.segment(Array("nonsense".utf8)) + Self.segment(Self.exif(6))

    #expect(try size(Array(jpeg.prefix(2) + segments + jpeg.dropFirst(2))) == PixelSize(width: 16, height: 24))
  }

  @Test(arguments: ["s\u{1}IT", "a\0\0\0", "x1y2", "zzz ", "q~~~"], [0, 1, 3])
  func `Ancillary PNG chunks with odd names are skipped wherever they are`(name: String, count: Int) throws {
    let file = SampleImage.png(width: 24, height: 16)
    let plain = try Renderer().render(file, specs: [ThumbnailSpec(width: 8)])
    let chunk = (0..<count).flatMap { SampleImage.pngChunk(name, Array(repeating: 7, count: $0 * 5)) }

    for place in [33, file.count - 12] {
      let changed = Array(file.prefix(place) + chunk + file.dropFirst(place))
      #expect(try Renderer().render(changed, specs: [ThumbnailSpec(width: 8)]).thumbnails == plain.thumbnails)
    }
  }

  @Test(arguments: ["S\u{1}IT", "ABCD"]) func `A critical PNG chunk that is not known is an error`(name: String) {
    let file = SampleImage.png(width: 24, height: 16)
    let changed = Array(file.prefix(33) + SampleImage.pngChunk(name, [1, 2, 3]) + file.dropFirst(33))
    #expect(throws: ImageError.self) { try Renderer().render(changed, specs: [ThumbnailSpec(width: 8)]) }
  }

  @Test(
    .disabled(if: Sanitizer.isOn, "The sandbox stops a program with a sanitizer."),
    .enabled(if: DecoderCondition(measuring: DecoderIsolation()).formats.contains(.svg)),
    arguments: [("var(--a)", true), ("var( --a, red)", true), ("red", false), ("variant(--a)", false)])
  func `A drawing whose colors are variables of CSS gets a warning, however it is encoded`(
    color: String, hasWarning: Bool
  ) throws {
    let text = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><g fill='\(color)'/></svg>"
    let wide: [UInt8] = [0xFF, 0xFE] + text.utf8.flatMap { [$0, 0] as [UInt8] }
    let renderer = Renderer(isolation: .patient)

    for bytes in [Array(text.utf8), BodyCoding.gzip(Array(text.utf8)), wide, BodyCoding.gzip(wide)] {
      let warnings = try renderer.render(bytes, specs: [ThumbnailSpec(width: 9)]).warnings
      #expect(warnings.contains { "\($0)".contains("variables of CSS") } == hasWarning)
    }
  }
}
