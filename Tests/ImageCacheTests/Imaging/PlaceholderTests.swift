import TestSupport
import Testing

@testable import ImageCache

@Suite struct `Placeholders` {
  private func render(_ bytes: [UInt8], _ specs: [ThumbnailSpec] = [.placeholder]) throws -> [Thumbnail] {
    try Renderer().render(bytes, specs: specs).thumbnails
  }

  private func placeholder(_ bytes: [UInt8], with other: [ThumbnailSpec] = []) throws -> Placeholder {
    try #require(try render(bytes, other + [.placeholder]).last?.placeholder)
  }

  @Test(arguments: ["rgb.png", "rgba.png", "gray.png", "gray-alpha.png", "palette-trns.png", "profile.png"])
  func `A placeholder describes the thumbnail of 100 pixels`(name: String) throws {
    let pixels = try #require(try render(Fixtures.image(name), [ThumbnailSpec(width: 100, format: .rgba)]).first)
    let thumbnail = try #require(try render(Fixtures.image(name)).first)

    #expect(thumbnail.format == .placeholder && thumbnail.size == pixels.size && thumbnail.bytes.count < 50)
    let placeholder = try #require(thumbnail.placeholder)
    #expect(placeholder.thumbHash == ThumbHash(pixels.bytes.span, size: pixels.size))
    #expect(placeholder.color == ThumbnailSpec.Color(dominantIn: pixels.bytes.span) && placeholder.color != nil)
    #expect(pixels.placeholder == nil)
  }

  /// Returns the mean difference of two hashes, decoded.
  private func difference(_ first: ThumbHash, _ second: ThumbHash, _ size: PixelSize) -> Double {
    let differences = zip(first.pixels(in: size), second.pixels(in: size)).map { abs(Int($0) - Int($1)) }
    return Double(differences.reduce(0, +)) / Double(size.area * 3)
  }

  /// The references are Pillow's.
  @Test(arguments: 1...8) func `A placeholder is upright`(orientation: Int) throws {
    let hash = try placeholder(Fixtures.image("orientation-\(orientation).jpg")).thumbHash
    for other in 1...8 {
      let reference = try Fixtures.reference(for: "orientation-\(other).jpg")
      let expected = ThumbHash(reference.samples.span, size: reference.size)
      let isSame =
        ThumbHash.Shape(header: hash.bytes) == ThumbHash.Shape(header: expected.bytes)
        && difference(hash, expected, PixelSize(width: 12, height: 12)) <= 3
      #expect(isSame == (other == orientation), "\(other)")
    }
  }

  @Test(arguments: ["large-shrunk.jpg", "large-444.jpg", "large-422.jpg", "adobe-rgb.jpg", "cmyk.jpg", "gray.jpg"])
  func `A placeholder made from luma and chroma looks like one made from RGB`(name: String) throws {
    let small = try render(Fixtures.image(name), [ThumbnailSpec(width: 40, format: .png)])[0]
    let pixels = try DecodedPixels(small)
    let expected = ThumbHash(pixels.samples.span, size: small.size)
    for other in [[], [ThumbnailSpec(width: 90)], [ThumbnailSpec(width: 24, format: .png)]] {
      let hash = try placeholder(Fixtures.image(name), with: other).thumbHash
      #expect(difference(hash, expected, PixelSize(width: 16, height: 12)) <= 4)
    }
  }

  @Test func `A placeholder does not change the thumbnails made with it`() throws {
    let image = try Fixtures.image("large-shrunk.jpg")
    for specs in [[ThumbnailSpec(width: 256)], [ThumbnailSpec(width: 200), ThumbnailSpec(width: 128)]] {
      #expect(try render(image, specs + [.placeholder]).dropLast() == render(image, specs)[...])
    }
  }

  @Test func `A transparent image has a hash, but no color`() throws {
    let placeholder = Placeholder([UInt8](repeating: 0, count: 64).span, size: PixelSize(width: 4, height: 4))

    #expect(placeholder.color == nil && placeholder.thumbHash.hasAlpha)
    #expect(Placeholder(record: placeholder.record) == placeholder)
  }

  @Test func `A record is read as it was written, and nothing else is one`() throws {
    let record = try render(Fixtures.image("rgb.png"))[0].bytes
    let placeholder = try #require(Placeholder(record: record))

    #expect(placeholder.record == record)
    for count in record.indices { #expect(Placeholder(record: Array(record.prefix(count))) == nil) }
    #expect(Placeholder(record: [2] + record.dropFirst()) == nil && Placeholder(record: record + [0]) == nil)
  }

  @Test func `A placeholder comes back from the disk, and from a remote cache`() throws {
    let (place, key) = (try CachePlace(), CacheFixtures.key(1))
    let thumbnails = try render(SampleImage.png(width: 64, height: 48), [ThumbnailSpec(width: 24), .placeholder])
    let placeholder = try #require(thumbnails.last?.placeholder)
    #expect(ThumbnailSpec(fingerprint: ThumbnailSpec.placeholder.fingerprint) == .placeholder)

    let cache = ThumbnailCache(diskAt: place.path)
    cache.store(CacheFixtures.source(1), thumbnails: thumbnails, for: key)
    cache.flush()
    let entry = ThumbnailCache(diskAt: place.path).entry(for: key, url: CacheFixtures.url(1), specs: [.placeholder])
    #expect(entry?.origin == .disk && entry?.thumbnails[.placeholder]?.placeholder == placeholder)

    let (codec, digest) = (RemoteObjectCodec(secret: nil), BodyDigest(of: [1]))
    let object = try #require(codec.object(of: thumbnails[1], from: digest))
    #expect(codec.thumbnail(in: object, .placeholder, from: digest)?.placeholder == placeholder)
    var other = thumbnails[1]
    other.bytes[0] = 9
    let bad = try #require(codec.object(of: other, from: digest))
    #expect(codec.thumbnail(in: bad, .placeholder, from: digest) == nil)
  }

  @Test func `A placeholder is no file, and has at most 100 pixels on a side`() throws {
    #expect(!OutputFormat.all.contains(.placeholder) && OutputFormat(rawValue: "placeholder") == .placeholder)
    #expect(!ThumbnailMark.isPresent(in: try render(SampleImage.png(width: 64, height: 48))[0].bytes))
    #expect(try render(SampleImage.jpeg(width: 300, height: 200))[0].size == PixelSize(width: 100, height: 67))
    for spec in [
      ThumbnailSpec(width: 101, format: .placeholder), ThumbnailSpec(width: 51, scale: 2, format: .placeholder),
    ] {
      #expect(throws: ImageError.self) { try Renderer().check([spec]) }
    }
  }
}
