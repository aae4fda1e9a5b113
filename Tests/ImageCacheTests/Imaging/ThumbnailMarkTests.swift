import ImageCache
import TestSupport
import Testing

@Suite struct `The thumbnail mark` {
  private static func thumbnail(_ source: [UInt8], _ format: ThumbnailSpec.Format) throws -> [UInt8] {
    try #require(try Renderer().render(source, specs: [ThumbnailSpec(width: 24, format: format)]).thumbnails.first)
      .bytes
  }

  static let sources = [
    SampleImage.jpeg(width: 64, height: 48), SampleImage.png(width: 64, height: 48),
    // Gray, and few enough colors for a palette.
    SampleImage.png(width: 2, height: 1),
  ]

  static let formats = OutputFormat.inProcess.compactMap { ThumbnailSpec.Format(rawValue: $0.rawValue) }

  @Test(arguments: sources.indices, formats)
  func `Only an unchanged thumbnail has the mark`(source: Int, format: ThumbnailSpec.Format) throws {
    let source = Self.sources[source]
    #expect(!ThumbnailMark.isPresent(in: source))

    let thumbnail = try Self.thumbnail(source, format)
    #expect(ThumbnailMark.isPresent(in: thumbnail))

    for place in stride(from: 0, to: thumbnail.count, by: 7) {
      var edited = thumbnail
      edited[place] ^= 0x40
      #expect(!ThumbnailMark.isPresent(in: edited), "byte \(place)")
    }
    #expect(!ThumbnailMark.isPresent(in: thumbnail + [0]))
    for count in 0..<min(120, thumbnail.count) { #expect(!ThumbnailMark.isPresent(in: Array(thumbnail[..<count]))) }
  }

  @Test(arguments: formats)
  func `A thumbnail with the mark can be decoded without warnings`(format: ThumbnailSpec.Format) throws {
    let thumbnail = try Self.thumbnail(Self.sources[0], format)

    let again = try Renderer().render(thumbnail, specs: [ThumbnailSpec(width: 24, format: .png)])

    #expect(again.warnings == [])
    #expect(again.source.size == PixelSize(width: 24, height: 18))
  }
}
