import TestSupport
import Testing

@testable import ImageCache

/// Thumbnails that are pixels instead of files.
@Suite struct `Thumbnails as pixels` {
  /// Returns the pixels of a thumbnail, and those of the PNG file of the same spec.
  private func thumbnails(_ bytes: [UInt8], _ spec: ThumbnailSpec) throws -> (pixels: Thumbnail, file: Thumbnail) {
    var specs = [spec, spec]
    (specs[0].format, specs[1].format) = (.rgba, .png)
    let renderer = Renderer()
    return (
      try #require(try renderer.render(bytes, specs: [specs[0]]).thumbnails.first),
      try #require(try renderer.render(bytes, specs: [specs[1]]).thumbnails.first)
    )
  }

  private static let specs = [
    ThumbnailSpec(width: 24), ThumbnailSpec(width: 20, height: 31, fit: .cover),
    ThumbnailSpec(width: 33, height: 20, fit: .pad), ThumbnailSpec(width: 17, height: 40, fit: .stretch),
    ThumbnailSpec(width: 24, scale: 2, enlargement: .allowed), ThumbnailSpec(width: 24, light: .linear),
  ]

  @Test(arguments: Fixtures.names, specs.indices)
  func `The pixels are those of the decoded PNG file of the same spec`(name: String, index: Int) throws {
    let (pixels, file) = try thumbnails(try Fixtures.image(name), Self.specs[index])

    #expect(pixels.format == .rgba && pixels.size == file.size && pixels.spec.format == .rgba)
    #expect(pixels.bytes.count == pixels.size.width * pixels.size.height * 4)
    #expect(pixels.bytes == (try DecodedPixels(file)).samples)
  }

  @Test func `Alpha is straight, and 0 in padding`() throws {
    let source = SampleImage.png(width: 64, height: 32)
    let (pixels, _) = try thumbnails(source, ThumbnailSpec(width: 64, fit: .pad))
    let image = try DecodedPixels(file: source)

    #expect(pixels.size == PixelSize(width: 64, height: 64))
    #expect(pixels.bytes.prefix(16 * 64 * 4).allSatisfy { $0 == 0 })
    let middle = DecodedPixels(rgba: pixels)
    for column in stride(from: 8, to: 64, by: 8) { #expect(middle.at(column, 32) == image.at(column, 16)) }
  }

  @Test func `One decode makes pixels and files of the same image`() throws {
    let wanted: [(Int, ThumbnailSpec.Format)] = [(24, .rgba), (24, .auto), (8, .rgba)]
    let specs = wanted.map { ThumbnailSpec(width: $0, format: $1) }
    let rendering = try Renderer().render(SampleImage.jpeg(width: 64, height: 48), specs: specs)

    #expect(rendering.thumbnails.map(\.format) == [.rgba, .jpeg, .rgba])
    #expect(rendering.thumbnails.map(\.bytes.count) == [24 * 18 * 4, rendering.thumbnails[1].bytes.count, 8 * 6 * 4])
  }

  @Test func `Pixels and files have separate names in the cache, and come back from disk as they were`() throws {
    let (place, key) = (try CachePlace(), CacheFixtures.key(1))
    let (pixels, file) = try thumbnails(SampleImage.png(width: 64, height: 48), ThumbnailSpec(width: 24))
    #expect(SpecName(pixels.spec) != SpecName(file.spec) && pixels.spec.fingerprint != file.spec.fingerprint)
    #expect(ThumbnailSpec(fingerprint: pixels.spec.fingerprint) == pixels.spec)

    let cache = ThumbnailCache(diskAt: place.path)
    cache.store(CacheFixtures.source(1), thumbnails: [pixels, file], for: key)
    cache.flush()
    let again = ThumbnailCache(diskAt: place.path)
    let entry = again.entry(for: key, url: CacheFixtures.url(1), specs: [pixels.spec, file.spec])

    #expect(entry?.origin == .disk)
    #expect(entry?.thumbnails == [pixels.spec: pixels, file.spec: file])
  }

  @Test func `Pixels have no mark, and no trait is needed for them`() throws {
    let (pixels, _) = try thumbnails(SampleImage.png(width: 64, height: 48), ThumbnailSpec(width: 24))
    #expect(!ThumbnailMark.isPresent(in: pixels.bytes))
    #expect(ThumbnailSpec.Format.rgba.missingTrait == nil && ThumbnailSpec.Format.rgba.output == .rgba)
  }
}

extension DecodedPixels {
  /// The pixels of a thumbnail in the format `rgba`.
  fileprivate init(rgba pixels: Thumbnail) { (size, samples) = (pixels.size, pixels.bytes) }
}
