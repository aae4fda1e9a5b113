import Foundation
import TestSupport
import Testing

@testable import ImageCache

@Suite struct `Perceptual hashes` {
  private func hash(_ bytes: [UInt8], with other: [ThumbnailSpec] = []) throws -> PerceptualHash {
    try #require(try Renderer().render(bytes, specs: other + [.perceptualHash]).thumbnails.last?.perceptualHash)
  }

  private func hash(_ pixels: Pixels) throws -> PerceptualHash {
    let record = try PerceptualHashEncoder().file(of: try Bitmap(pixels)).bytes
    return try #require(PerceptualHash(record: record))
  }

  /// Hashes by `Tests/Fixtures/perceptual_hash.py`, by kind and name.
  private static let expected = {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Fixtures/perceptual-hashes.txt")
    let lines = (try? String(contentsOf: file, encoding: .utf8))?.split(separator: "\n") ?? []
    return lines.map { $0.split(separator: " ").map(String.init) }
  }()

  /// Returns the image that the script computes in the same way.
  private func computed(_ size: PixelSize, hasAlpha: Bool) throws -> Pixels {
    var bytes: [UInt8] = []
    for y in 0..<size.height {
      for x in 0..<size.width {
        let samples = [
          x * x * 5 / 16 + y * 7 + x * y / 3, x * 11 + y * y / 4, (x + 2 * y) * 3, hasAlpha ? x * 9 + y * 5 : 255,
        ]
        bytes += samples.map { UInt8($0 % 256) }
      }
    }
    return try #require(Pixels(size: size, bytes: bytes))
  }

  @Test func `The hashes of computed images are those of an independent program`() throws {
    let lines = Self.expected.filter { $0[1] != "file" }
    #expect(lines.count == 18)
    for line in lines {
      let sides = line[2].split(separator: "x").compactMap { Int($0) }
      let pixels = try computed(PixelSize(width: sides[0], height: sides[1]), hasAlpha: line[1] == "alpha")
      #expect(try hash(pixels).description == line[0], "\(line)")
    }
  }

  /// They have more pixels than a hash takes, so a few terms may be on the other side of the median.
  @Test func `The hashes of files are nearly those of an independent program`() throws {
    let lines = Self.expected.filter { $0[1] == "file" }
    #expect(lines.count == 9)
    for line in lines {
      let expected = try #require(PerceptualHash(line[0]))
      #expect(try hash(Fixtures.image(line[2])).distance(to: expected) <= 2, "\(line)")
    }
  }

  /// Returns the hash of a reference, which another program has decoded and turned upright.
  private func reference(_ name: String) throws -> PerceptualHash {
    let reference = try Fixtures.reference(for: name)
    return try hash(try #require(Pixels(size: reference.size, bytes: reference.samples)))
  }

  @Test(arguments: 1...8) func `A hash is upright`(orientation: Int) throws {
    let found = try hash(Fixtures.image("orientation-\(orientation).jpg"))
    for other in 1...8 {
      #expect(try (found.distance(to: reference("orientation-\(other).jpg")) <= 4) == (other == orientation))
    }
  }

  @Test(arguments: ["large-shrunk.jpg", "large-444.jpg", "large-422.jpg", "adobe-rgb.jpg", "cmyk.jpg", "gray.jpg"])
  func `A hash made from luma and chroma is nearly that of RGB`(name: String) throws {
    let image = try Fixtures.image(name)
    let whole = try Renderer().render(image, specs: [ThumbnailSpec(width: 4096, format: .png)]).thumbnails[0]
    let expected = try hash(whole.bytes)

    for other in [[], [ThumbnailSpec(width: 90)], [ThumbnailSpec(width: 24, format: .png)]] {
      #expect(try hash(image, with: other).distance(to: expected) <= 2)
    }
  }

  @Test(arguments: ["large-444.jpg", "scene.png"])
  func `Few bits change with the size, the proportions, the quality and the format`(name: String) throws {
    let image = try Fixtures.image(name)
    let expected = try hash(image)
    let specs = [
      ThumbnailSpec(width: 100), ThumbnailSpec(width: 150, height: 90, fit: .stretch, format: .jpeg),
      ThumbnailSpec(width: 128, format: .jpeg, quality: 40), ThumbnailSpec(width: 128, format: .png),
    ]

    #expect(expected.isSignificant)
    for thumbnail in try Renderer().render(image, specs: specs).thumbnails {
      #expect(try hash(thumbnail.bytes).distance(to: expected) <= 6, "\(thumbnail.spec)")
    }
  }

  @Test func `Transparent parts count as white`() throws {
    let clear = try computed(PixelSize(width: 40, height: 30), hasAlpha: true)
    var (white, black) = (clear, clear)
    for pixel in stride(from: 0, to: clear.bytes.count, by: 4) where pixel % 240 < 80 {
      white.change {
        $0[pixel] = 255; $0[pixel + 1] = 255; $0[pixel + 2] = 255; $0[pixel + 3] = 255
      }
      black.change {
        $0[pixel] = 0; $0[pixel + 1] = 0; $0[pixel + 2] = 0; $0[pixel + 3] = 0
      }
    }
    #expect(try hash(white) == hash(black) && hash(white) != hash(clear))
  }

  @Test func `A uniform image has no bits, and a gradient few`() throws {
    func image(_ level: (_ x: Int, _ y: Int) -> Int) throws -> Pixels {
      let bytes = (0..<64 * 64).flatMap { pixel in
        let level = UInt8(level(pixel % 64, pixel / 64))
        return [level, level, level, 255]
      }
      return try #require(Pixels(size: PixelSize(width: 64, height: 64), bytes: bytes))
    }
    for hash in try [hash(image { _, _ in 0 }), hash(image { x, y in 200 + (x ^ y) / 9 })] {
      #expect(hash.rawValue == 0 && !hash.isSignificant)
    }
    #expect(try !hash(image { x, _ in 3 * x }).isSignificant && hash(image { x, y in x * (x + y) / 32 }).isSignificant)
  }

  @Test func `A hash does not depend on other thumbnails, and does not change them`() throws {
    let image = try Fixtures.image("large-shrunk.jpg")
    let others = [
      [ThumbnailSpec(width: 256)], [ThumbnailSpec(width: 200, filter: .box), ThumbnailSpec(width: 30, filter: .box)],
    ]
    for specs in others {
      let thumbnails = try Renderer().render(image, specs: specs + [.perceptualHash]).thumbnails
      #expect(try thumbnails.dropLast() == Renderer().render(image, specs: specs).thumbnails[...])
    }
    let file = try Fixtures.image("scene.png")
    for specs in others { #expect(try hash(file, with: specs) == hash(file)) }
  }

  @Test func `A process that changes pixels does not change the hash`() throws {
    var renderer = Renderer()
    renderer.process = PixelProcess(id: "black") { pixels in
      pixels.change { samples in for index in samples.indices { samples[index] = 0 } }
    }
    let image = try Fixtures.image("scene.png")
    let found = try renderer.render(image, specs: [.perceptualHash]).thumbnails[0].perceptualHash

    #expect(try found == hash(image))
  }

  @Test func `A hash is read from its text and its record, and from nothing else`() throws {
    let hash = PerceptualHash(rawValue: 0x0123_4567_89AB_CDEF)

    #expect(hash.description == "0123456789abcdef" && PerceptualHash("0123456789ABCDEF") == hash)
    #expect(PerceptualHash("123456789abcdef") == nil && PerceptualHash("+123456789abcdef") == nil)
    #expect(hash.record == [1, 0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF])
    #expect(PerceptualHash(record: hash.record) == hash)
    for count in hash.record.indices { #expect(PerceptualHash(record: Array(hash.record.prefix(count))) == nil) }
    #expect(PerceptualHash(record: [2] + hash.record.dropFirst()) == nil)
    #expect(hash.distance(to: PerceptualHash(rawValue: 0x0123_4567_89AB_CDE0)) == 4)
  }

  @Test func `A hash comes back from the disk, and from a remote cache`() throws {
    let (place, key) = (try CachePlace(), CacheFixtures.key(1))
    let specs = [ThumbnailSpec(width: 24), .perceptualHash]
    let thumbnails = try Renderer().render(SampleImage.png(width: 64, height: 48), specs: specs).thumbnails
    let hash = try #require(thumbnails.last?.perceptualHash)
    #expect(ThumbnailSpec(fingerprint: ThumbnailSpec.perceptualHash.fingerprint) == .perceptualHash)

    let cache = ThumbnailCache(diskAt: place.path)
    cache.store(CacheFixtures.source(1), thumbnails: thumbnails, for: key)
    cache.flush()
    let entry = ThumbnailCache(diskAt: place.path).entry(for: key, url: CacheFixtures.url(1), specs: [.perceptualHash])
    #expect(entry?.origin == .disk && entry?.thumbnails[.perceptualHash]?.perceptualHash == hash)

    let (codec, digest) = (RemoteObjectCodec(secret: nil), BodyDigest(of: [1]))
    let object = try #require(codec.object(of: thumbnails[1], from: digest))
    #expect(codec.thumbnail(in: object, .perceptualHash, from: digest)?.perceptualHash == hash)
    var other = thumbnails[1]
    other.bytes[0] = 9
    let bad = try #require(codec.object(of: other, from: digest))
    #expect(codec.thumbnail(in: bad, .perceptualHash, from: digest) == nil)
  }

  @Test func `A hash is no file, and has no settings`() throws {
    #expect(!OutputFormat.all.contains(.perceptualHash) && OutputFormat(rawValue: "phash") == .perceptualHash)
    var other = ThumbnailSpec.perceptualHash
    other.filter = .lanczos3
    for spec in [ThumbnailSpec(width: 64, format: .perceptualHash), other] {
      #expect(throws: ImageError.self) { try Renderer().check([spec]) }
    }
  }
}
