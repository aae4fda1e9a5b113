import ImageCache
import TestSupport
import Testing

@Suite struct `Damaged files` {
  private static let specs = [ThumbnailSpec(width: 16)]

  private func code(_ bytes: [UInt8]) -> ImageError.Code? {
    do throws(ImageError) {
      _ = try Renderer(maxPixels: 1 << 20).render(bytes, specs: Self.specs)
      return nil
    } catch {
      return error.code
    }
  }

  /// The number of bytes at the end of a file that hold no image data: its end marker.
  private static let tails = ["jpg": 2, "png": 12]

  /// Files with other data after the image data.
  private static let longer = ["multi-picture.jpg", "exif-behind.png"]

  @Test(arguments: Fixtures.names.filter { !longer.contains($0) })
  func `A file cut anywhere is truncated`(name: String) throws {
    let bytes = try Fixtures.image(name)
    let tail = name.hasPrefix("no-end-") ? 0 : try #require(Self.tails[String(name.suffix(3))])

    for count in (20..<bytes.count - tail).cutPositions(count: 75) {
      #expect(code(Array(bytes.prefix(count))) == .truncated, "cut to \(count) of \(bytes.count)")
    }
  }

  @Test(arguments: ["rgb-420.jpg", "progressive.jpg", "gray.jpg", "rgb.png", "interlaced.png"])
  func `A file without its end marker is decoded with a warning`(name: String) throws {
    let bytes = try Fixtures.image(name)
    let tail = try #require(Self.tails[String(name.suffix(3))])

    let whole = try Renderer().render(bytes, specs: Self.specs)
    let cut = try Renderer().render(Array(bytes.dropLast(tail)), specs: Self.specs)

    #expect(cut.thumbnails == whole.thumbnails)
    #expect(whole.warnings.isEmpty && !cut.warnings.isEmpty)
  }

  @Test(arguments: ["rgb-420.jpg", "progressive.jpg", "rgb.png"])
  func `Bytes after the end marker change no thumbnail`(name: String) throws {
    let bytes = try Fixtures.image(name)

    let whole = try Renderer().render(bytes, specs: Self.specs)
    let more = try Renderer().render(bytes + bytes + [1, 2, 3], specs: Self.specs)

    #expect(more.thumbnails == whole.thumbnails)
  }

  @Test(arguments: Fixtures.tiny.keys.sorted())
  func `Any single flipped bit in a small file gives a thumbnail or an error`(name: String) throws {
    let bytes = try #require(Fixtures.tiny[name])
    #expect(code(bytes) == nil)

    var outcomes: [ImageError.Code?: Int] = [:]
    for bit in flippedBits(of: bytes) {
      var flipped = bytes
      flipped[bit / 8] ^= 1 << UInt8(bit % 8)
      outcomes[code(flipped), default: 0] += 1
    }

    // Rendering returns every time, and some of the damage is detected.
    #expect(outcomes[.decodeError, default: 0] > 0)
  }

  @Test(arguments: Fixtures.tiny.keys.sorted())
  func `A small file cut after any byte is truncated`(name: String) throws {
    let bytes = try #require(Fixtures.tiny[name])
    let tail = try #require(Self.tails[String(name.suffix(3))])

    for count in 20..<bytes.count - tail {
      #expect(code(Array(bytes.prefix(count))) == .truncated, "cut to \(count) of \(bytes.count)")
    }
    for count in 0..<20 { #expect(code(Array(bytes.prefix(count))) != nil, "cut to \(count)") }
  }

  @Test(arguments: Fixtures.names)
  func `A random flipped bit in a file of ordinary size gives a thumbnail or an error`(name: String) throws {
    let bytes = try Fixtures.image(name)
    var random = SeededGenerator(seed: 7)

    for _ in 0..<60 {
      var flipped = bytes
      flipped[Int.random(in: bytes.indices, using: &random)] ^= 1 << Int.random(in: 0..<8, using: &random)
      // Either result is fine, as long as rendering returns.
      _ = code(flipped)
    }
  }

  @Test func `A bad checksum is a warning in a text chunk and an error in the image data`() throws {
    let image = SampleImage.png(width: 8, height: 8)
    var comment = SampleImage.pngChunk("tEXt", Array("Title\0x".utf8))
    comment[comment.count - 1] ^= 1
    let (header, rest) = (image.prefix(33), image.dropFirst(33))

    let rendering = try Renderer().render(Array(header + comment + rest), specs: Self.specs)
    #expect(rendering.warnings.contains { $0.contains("CRC") }, "\(rendering.warnings)")

    var damaged = image
    damaged[damaged.count - 13] ^= 1
    #expect(code(damaged) == .decodeError)
  }

  @Test func `A text chunk that claims a gigabyte does not allocate it`() throws {
    let image = SampleImage.png(width: 8, height: 8)
    let claim: [UInt8] = [0x40, 0, 0, 0] + Array("tEXtTitle".utf8)
    let peak = MemoryPeak.ofProcess()

    #expect(code(image.prefix(33) + claim + image.dropFirst(33)) == .truncated)

    #expect(MemoryPeak.ofProcess() - peak < 256 << 20)
  }

  @Test(arguments: ["large-gray-progressive.jpg", "large-444-progressive.jpg"])
  func `Damage in a scan that a small thumbnail does not need has no effect on it`(name: String) throws {
    var bytes = try Fixtures.image(name)
    let whole = try Renderer().render(bytes, specs: [ThumbnailSpec(width: 48)])
    // The last scan refines coefficients that an image shrunk to an eighth does not use.
    let scan = try #require(bytes.indices.dropLast().last { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xDA })
    for index in (scan + 40)..<(bytes.count - 40) where bytes[index] != 0xFF && bytes[index - 1] != 0xFF {
      bytes[index] = bytes[index] ^ 0x11 == 0xFF ? 0 : bytes[index] ^ 0x11
    }

    #expect(try Renderer().render(bytes, specs: [ThumbnailSpec(width: 48)]).thumbnails == whole.thumbnails)
    let large = [ThumbnailSpec(width: 700)]
    #expect(
      (try? Renderer().render(bytes, specs: large))?.thumbnails
        != (try? Renderer().render(Fixtures.image(name), specs: large))?.thumbnails)
  }

  @Test func `A malformed profile or EXIF block is ignored with a warning`() throws {
    let image = SampleImage.jpeg(width: 40, height: 30)
    let plain = try Renderer().render(image, specs: Self.specs)
    let profile = Array("ICC_PROFILE\0\u{1}\u{1}nonsense".utf8)
    let exif = Array("Exif\0\0nonsense".utf8)

    for (marker, content, word) in [(UInt8(0xE2), profile, "ICC"), (0xE1, exif, "EXIF")] {
      let segment = [0xFF, marker, 0, UInt8(content.count + 2)] + content
      let rendering = try Renderer().render(
        Array(image.prefix(2)) + segment + image.dropFirst(2), specs: Self.specs)
      #expect(rendering.thumbnails == plain.thumbnails)
      #expect(rendering.warnings.contains { $0.contains(word) }, "\(rendering.warnings)")
    }
  }

  @Test func `A gray profile in a color image is ignored with a warning`() throws {
    let gray = try Fixtures.image("gray-profile.jpg")
    let start = try #require(gray.indices.first { gray[$0] == 0xFF && gray[$0 + 1] == 0xE2 })
    let length = Int(gray[start + 2]) << 8 | Int(gray[start + 3])
    let image = SampleImage.jpeg(width: 40, height: 30)
    let mixed = Array(image.prefix(2)) + gray[start..<start + 2 + length] + image.dropFirst(2)

    let rendering = try Renderer().render(mixed, specs: Self.specs)

    #expect(try rendering.thumbnails == Renderer().render(image, specs: Self.specs).thumbnails)
    #expect(rendering.warnings.contains { $0.contains("its color model differs") })
  }

  @Test func `Too many progressive scans exceed a limit`() throws {
    let bytes = try Fixtures.image("progressive.jpg")
    // Repeats the last scan two hundred times.
    let start = try #require(bytes.indices.dropLast().last { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xDA })
    let scans = Array(repeating: bytes[start..<bytes.count - 2], count: 200).joined()

    #expect(code(bytes.dropLast(2) + scans + [0xFF, 0xD9]) == .decodeLimit)
  }
}
