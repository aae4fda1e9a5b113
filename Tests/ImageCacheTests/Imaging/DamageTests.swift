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

  /// A cut file may lack its end mark only; these are the last bytes that hold none of the picture.
  private static let tails = ["jpg": 2, "png": 12]

  /// These end with something that does not belong to the picture.
  private static let longer = ["multi-picture.jpg", "exif-behind.png"]

  @Test(arguments: Fixtures.names.filter { !longer.contains($0) })
  func `cut anywhere are truncated`(name: String) throws {
    let bytes = try Fixtures.picture(name)
    let tail = name.hasPrefix("no-end-") ? 0 : try #require(Self.tails[String(name.suffix(3))])
    let step = max(1, bytes.count / 150)
    for count in [Int](stride(from: 20, to: bytes.count - tail, by: step)) + [bytes.count - tail - 1] {
      #expect(code(Array(bytes.prefix(count))) == .truncated, "cut to \(count) of \(bytes.count)")
    }
  }

  @Test(arguments: ["rgb-420.jpg", "progressive.jpg", "gray.jpg", "rgb.png", "interlaced.png"])
  func `that lack only their end mark are pictures, with a warning`(name: String) throws {
    let bytes = try Fixtures.picture(name)
    let tail = try #require(Self.tails[String(name.suffix(3))])
    let whole = try Renderer().render(bytes, specs: Self.specs)
    let cut = try Renderer().render(Array(bytes.dropLast(tail)), specs: Self.specs)
    #expect(cut.thumbnails == whole.thumbnails)
    #expect(whole.warnings.isEmpty && !cut.warnings.isEmpty)
  }

  @Test(arguments: ["rgb-420.jpg", "progressive.jpg", "rgb.png"])
  func `with something behind the picture are pictures`(name: String) throws {
    let bytes = try Fixtures.picture(name)
    let whole = try Renderer().render(bytes, specs: Self.specs)
    let more = try Renderer().render(bytes + bytes + [1, 2, 3], specs: Self.specs)
    #expect(more.thumbnails == whole.thumbnails)
  }

  @Test(arguments: Fixtures.tiny.keys.sorted())
  func `of every kind with any one bit wrong are a picture or an error`(name: String) throws {
    let bytes = try #require(Fixtures.tiny[name])
    #expect(code(bytes) == nil)
    var outcomes: [ImageError.Code?: Int] = [:]
    for position in bytes.indices {
      for bit in 0..<8 {
        var flipped = bytes
        flipped[position] ^= 1 << bit
        outcomes[code(flipped), default: 0] += 1
      }
    }
    // Returning every time is what is asked for; and damage is seen where it shows.
    #expect(outcomes.values.reduce(0, +) == bytes.count * 8)
    #expect(outcomes[.decodeError, default: 0] > 0)
  }

  @Test(arguments: Fixtures.tiny.keys.sorted())
  func `of every kind cut after any byte are truncated`(name: String) throws {
    let bytes = try #require(Fixtures.tiny[name])
    let tail = try #require(Self.tails[String(name.suffix(3))])
    for count in 20..<bytes.count - tail {
      #expect(code(Array(bytes.prefix(count))) == .truncated, "cut to \(count) of \(bytes.count)")
    }
    for count in 0..<20 { #expect(code(Array(bytes.prefix(count))) != nil, "cut to \(count)") }
  }

  @Test(arguments: Fixtures.names)
  func `as large as usual with some bit wrong are a picture or an error`(name: String) throws {
    let bytes = try Fixtures.picture(name)
    var random = SeededGenerator(seed: 7)
    for _ in 0..<60 {
      var flipped = bytes
      flipped[Int.random(in: bytes.indices, using: &random)] ^= 1 << Int.random(in: 0..<8, using: &random)
      // Returning at all is what is asked for.
      _ = code(flipped)
    }
  }

  @Test func `a bad checksum is a warning beside the picture, an error in it`() throws {
    let picture = SampleImage.png(width: 8, height: 8)
    var comment = SampleImage.pngChunk("tEXt", Array("Title\0x".utf8))
    comment[comment.count - 1] ^= 1
    let (header, rest) = (picture.prefix(33), picture.dropFirst(33))
    let rendering = try Renderer().render(Array(header + comment + rest), specs: Self.specs)
    #expect(rendering.warnings.contains { $0.contains("CRC") }, "\(rendering.warnings)")
    var damaged = picture
    damaged[damaged.count - 13] ^= 1
    #expect(code(damaged) == .decodeError)
  }

  @Test func `a text chunk that claims a gigabyte is not given one`() throws {
    let picture = SampleImage.png(width: 8, height: 8)
    let claim: [UInt8] = [0x40, 0, 0, 0] + Array("tEXtTitle".utf8)
    let peak = MemoryPeak.ofProcess()
    #expect(code(picture.prefix(33) + claim + picture.dropFirst(33)) == .truncated)
    #expect(MemoryPeak.ofProcess() - peak < 256 << 20)
  }

  @Test(arguments: ["large-gray-progressive.jpg", "large-444-progressive.jpg"])
  func `where no thumbnail looks are sound`(name: String) throws {
    var bytes = try Fixtures.picture(name)
    let whole = try Renderer().render(bytes, specs: [ThumbnailSpec(width: 48)])
    // The last scan refines coefficients that a picture an eighth as large does not have.
    let scan = try #require(bytes.indices.dropLast().last { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xDA })
    for index in (scan + 40)..<(bytes.count - 40) where bytes[index] != 0xFF && bytes[index - 1] != 0xFF {
      bytes[index] = bytes[index] ^ 0x11 == 0xFF ? 0 : bytes[index] ^ 0x11
    }
    #expect(try Renderer().render(bytes, specs: [ThumbnailSpec(width: 48)]).thumbnails == whole.thumbnails)
    let large = [ThumbnailSpec(width: 700)]
    #expect(
      (try? Renderer().render(bytes, specs: large))?.thumbnails
        != (try? Renderer().render(Fixtures.picture(name), specs: large))?.thumbnails)
  }

  @Test func `a broken profile or EXIF block is ignored with a warning`() throws {
    let picture = SampleImage.jpeg(width: 40, height: 30)
    let plain = try Renderer().render(picture, specs: Self.specs)
    let profile = Array("ICC_PROFILE\0\u{1}\u{1}nonsense".utf8)
    let exif = Array("Exif\0\0nonsense".utf8)
    for (marker, content, word) in [(UInt8(0xE2), profile, "ICC"), (0xE1, exif, "EXIF")] {
      let segment = [0xFF, marker, 0, UInt8(content.count + 2)] + content
      let rendering = try Renderer().render(
        Array(picture.prefix(2)) + segment + picture.dropFirst(2), specs: Self.specs)
      #expect(rendering.thumbnails == plain.thumbnails)
      #expect(rendering.warnings.contains { $0.contains(word) }, "\(rendering.warnings)")
    }
  }

  @Test func `a gray profile in a colour picture is ignored with a warning`() throws {
    let gray = try Fixtures.picture("gray-profile.jpg")
    let start = try #require(gray.indices.first { gray[$0] == 0xFF && gray[$0 + 1] == 0xE2 })
    let length = Int(gray[start + 2]) << 8 | Int(gray[start + 3])
    let picture = SampleImage.jpeg(width: 40, height: 30)
    let mixed = Array(picture.prefix(2)) + gray[start..<start + 2 + length] + picture.dropFirst(2)
    let rendering = try Renderer().render(mixed, specs: Self.specs)
    #expect(try rendering.thumbnails == Renderer().render(picture, specs: Self.specs).thumbnails)
    #expect(rendering.warnings.contains { $0.contains("another kind of colour") })
  }

  @Test func `too many progressive scans are a limit`() throws {
    let bytes = try Fixtures.picture("progressive.jpg")
    // The last scan once more, two hundred times over.
    let start = try #require(bytes.indices.dropLast().last { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xDA })
    let scans = Array(repeating: bytes[start..<bytes.count - 2], count: 200).joined()
    #expect(code(bytes.dropLast(2) + scans + [0xFF, 0xD9]) == .decodeLimit)
  }
}
