import TestSupport
import Testing

@testable import ImageCache

/// Objects with a correct tag. Anybody with the key can write them; without a key, anybody can.
@Suite("Forged objects of a remote cache")
struct ForgedObjectTests {
  private typealias Fixtures = CacheFixtures

  private static let png = SampleImage.png(width: 40, height: 30)
  private static let digest = BodyDigest(of: png)
  private static let codec = RemoteObjectCodec(secret: nil)

  @Test(arguments: [
    PixelSize(width: 1 << 31, height: 1 << 31), PixelSize(width: Int(UInt32.max), height: Int(UInt32.max)),
    PixelSize(width: 0, height: 7), PixelSize(width: 3, height: 3),
  ])
  func `Pixels of another number than their size has are not accepted`(size: PixelSize) throws {
    let spec = ThumbnailSpec(width: 16, format: .rgba)
    let pixels = Thumbnail(spec: spec, size: size, format: .rgba, bytes: Array(repeating: 9, count: 32))
    let object = try #require(Self.codec.object(of: pixels, from: Self.digest))

    #expect(Self.codec.thumbnail(in: object, spec, from: Self.digest) == nil)
  }

  @Test(arguments: [ThumbnailSpec.Format.auto, .jpeg, .smallest, .placeholder])
  func `A thumbnail in a format that its spec does not have is not accepted`(format: ThumbnailSpec.Format) throws {
    let codec = Self.codec
    let spec = format == .placeholder ? .placeholder : ThumbnailSpec(width: 16, format: format)
    let others: [ThumbnailSpec] = [.placeholder, .perceptualHash, ThumbnailSpec(width: 16, format: .rgba)]
    for thumbnail in try Renderer().render(Self.png, specs: others + [spec]).thumbnails {
      let moved = Thumbnail(spec: spec, size: thumbnail.size, format: thumbnail.format, bytes: thumbnail.bytes)
      let object = try #require(codec.object(of: moved, from: Self.digest))
      let isAccepted = codec.thumbnail(in: object, spec, from: Self.digest) != nil
      #expect(isAccepted == (thumbnail.spec == spec), "\(thumbnail.format)")
    }
  }

  @Test(arguments: [
    PixelSize(width: Int(UInt32.max), height: Int(UInt32.max)), PixelSize(width: 0, height: 9),
    PixelSize(width: 9, height: DecodingLimits.longestSide + 1),
  ])
  func `A source of a size that no image has is not accepted`(size: PixelSize) throws {
    var source = Fixtures.source(1)
    source.content = .image(SourceImage(size: size, format: .jpeg), digest: Self.digest, bytes: 100)
    let object = try #require(Self.codec.object(of: source, key: Fixtures.key(1)))

    #expect(Self.codec.source(in: object, key: Fixtures.key(1), url: source.url) == nil)
  }

  @Test func `The pixels of the largest size that a record can have are counted`() {
    let largest = PixelSize(width: Int(UInt32.max), height: Int(UInt32.max))
    #expect(throws: Never.self) { try largest.check(minPixels: 0, maxAspectRatio: 1) }
    let small = PixelSize(width: 3, height: 9)
    #expect(throws: ImageError.self) { try small.check(minPixels: 28, maxAspectRatio: nil) }
    #expect(throws: Never.self) { try small.check(minPixels: 27, maxAspectRatio: 3) }
    #expect(throws: ImageError(.tooLong, "The image is 3x9 pixels; at most 2.99 to 1 is wanted.")) {
      try small.check(minPixels: 0, maxAspectRatio: 2.99)
    }
  }
}
