import ImageCache
import TestSupport
import Testing

@Suite struct `The level of failure` {
  private static let spec = ThumbnailSpec(width: 32, format: .png)

  private func render(_ file: [UInt8], _ level: FailLevel) throws -> Renderer.Rendering {
    var renderer = Renderer()
    renderer.failLevel = level
    return try renderer.render(file, specs: [Self.spec])
  }

  private func code(_ file: [UInt8], _ level: FailLevel) -> ImageError.Code? {
    do {
      _ = try render(file, level)
      return nil
    } catch {
      return (error as? ImageError)?.code
    }
  }

  /// Returns a file with its compressed image data damaged in the middle: a JPEG file gets a marker where none may be.
  private func corrupt(_ name: String) throws -> [UInt8] {
    var file = try Fixtures.image(name)
    let damage: [UInt8] = name.hasSuffix("jpg") ? [0xFF, 0xD0] : Array(repeating: 0x55, count: 40)
    file.replaceSubrange(file.count / 2..<file.count / 2 + damage.count, with: damage)
    return file
  }

  @Test(arguments: ["rgb-420.jpg", "restarts.jpg", "progressive.jpg", "gray.jpg", "rgb.png", "rgba.png", "palette.png"])
  func `A truncated file is rendered only if that is tolerated`(name: String) throws {
    let file = try Array(Fixtures.image(name).dropLast(Fixtures.image(name).count / 3))

    let rendering = try render(file, .none)

    #expect(rendering.isDamaged && rendering.warnings.contains { $0.contains("ends before") })
    #expect([FailLevel.truncated, .error, .warning].map { code(file, $0) } == [.truncated, .truncated, .truncated])
  }

  @Test(arguments: ["rgb-420.jpg", "gray.jpg", "rgb.png", "gray-alpha.png"])
  func `A corrupt file is rendered only if that is tolerated`(name: String) throws {
    let file = try corrupt(name)

    for level in [FailLevel.none, .truncated] {
      let rendering = try render(file, level)
      #expect(rendering.isDamaged && !rendering.warnings.isEmpty)
    }
    #expect([FailLevel.error, .warning].map { code(file, $0) } == [.decodeError, .decodeError])
  }

  @Test(arguments: ["rgb-420.jpg", "gray.jpg", "large-422.jpg", "rgb.png", "rgba.png", "interlaced.png"])
  func `A truncated file shows its data, and then nothing`(name: String) throws {
    let file = try Fixtures.image(name)
    let whole = try DecodedPixels(render(file, .error).thumbnails[0])

    let cut = try DecodedPixels(render(Array(file.dropLast(file.count / 3)), .none).thumbnails[0])

    #expect(cut.size == whole.size)
    // The first rows are the same, even of an interlaced file, whose rows are only coarser.
    let isExact = name != "interlaced.png"
    for x in 0..<cut.size.width where isExact { #expect(cut.at(x, 1) == whole.at(x, 1)) }
    let last = cut.at(cut.size.width / 2, cut.size.height - 1)
    switch name {
    case "rgba.png": #expect(last == [0, 0, 0, 0])
    case "rgb.png": #expect(last == [128, 128, 128, 255])
    default: #expect(last != whole.at(cut.size.width / 2, cut.size.height - 1))
    }
  }

  @Test func `A truncated GIF shows its first rows`() throws {
    let file = try Fixtures.exactImage("plain.gif")
    let whole = try DecodedPixels(render(file, .error).thumbnails[0])

    let rendering = try render(Array(file.prefix(file.count / 2)), .none)
    let cut = try DecodedPixels(rendering.thumbnails[0])

    #expect(rendering.isDamaged)
    for x in 0..<cut.size.width { #expect(cut.at(x, 1) == whole.at(x, 1)) }
    #expect(cut.at(3, cut.size.height - 1) == [128, 128, 128, 255])
  }

  /// The rows of these bitmaps are stored from the last to the first.
  @Test(arguments: [("bits-24.bmp", [UInt8(128), 128, 128, 255]), ("rle8.bmp", [0, 0, 0, 0])])
  func `A truncated BMP shows its last rows`(name: String, missing: [UInt8]) throws {
    let file = try Fixtures.exactImage(name)
    let whole = try DecodedPixels(render(file, .error).thumbnails[0])

    let rendering = try render(Array(file.prefix(file.count / 2)), .none)
    let cut = try DecodedPixels(rendering.thumbnails[0])

    #expect(rendering.isDamaged && code(Array(file.prefix(file.count / 2)), .truncated) == .truncated)
    #expect(cut.at(1, 0) == missing)
    for x in 0..<cut.size.width { #expect(cut.at(x, cut.size.height - 1) == whole.at(x, cut.size.height - 1)) }
  }

  #if WebP
    @Test(arguments: ["lossy-large", "lossless"])
    func `A truncated WebP shows its first rows`(name: String) throws {
      let file = try Fixtures.webp(name)
      let whole = try DecodedPixels(render(file, .error).thumbnails[0])

      let rendering = try render(Array(file.prefix(file.count * 2 / 3)), .none)
      let cut = try DecodedPixels(rendering.thumbnails[0])

      #expect(rendering.isDamaged && code(Array(file.prefix(file.count * 2 / 3)), .truncated) == .truncated)
      for x in 0..<cut.size.width { #expect(cut.at(x, 1) == whole.at(x, 1)) }
      #expect(cut.at(3, cut.size.height - 1) == [128, 128, 128, 255])
    }
  #endif

  @Test func `A whole file is not damaged at any level`() throws {
    for level in FailLevel.allCases { #expect(try !render(Fixtures.image("rgb.png"), level).isDamaged) }
  }

  @Test(arguments: Fixtures.flaws.keys.sorted())
  func `A harmless flaw makes rendering fail only if warnings do`(name: String) throws {
    let file = try Fixtures.image(name)

    #expect(FailLevel.allCases.map { code(file, $0) } == [nil, nil, nil, .decodeError])
  }

  @Test func `A file without image data, and one that exceeds a limit, fail at every level`() throws {
    let file = try Fixtures.image("rgb.png")
    for level in FailLevel.allCases {
      #expect(code(Array(file.prefix(30)), level) == .truncated)
      #expect(code(Array(file.prefix(50)), level) == .truncated)
      #expect(code(SampleImage.pngHeader(width: 200_000, height: 2), level) == .tooManyPixels)
      #expect(code(Array("<html>".utf8), level) == .notAnImage)
    }
  }
}
