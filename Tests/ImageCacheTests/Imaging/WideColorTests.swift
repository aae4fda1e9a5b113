import CImage
import TestSupport
import Testing

@testable import ImageCache

/// Thumbnails in Display P3 and in the colors of their source. `make test-decoders` compares them with LittleCMS.
@Suite struct `Wide color` {
  private static let size = PixelSize(width: 6, height: 5)

  /// A PNG whose samples are Display P3, by code points.
  private static func image(
    _ color: [UInt8], layout: PixelLayout = .rgb, codePoints: [UInt8] = [12, 13]
  ) throws -> [UInt8] {
    let bitmap = try Bitmap(size: size, layout: layout)
    for index in 0..<size.area * layout.channels { bitmap.planes[0].samples[index] = color[index % layout.channels] }
    let file = try PNGEncoder(ThumbnailSpec(width: 1)).encode(bitmap)
    return file[..<33] + SampleImage.pngChunk("cICP", codePoints + [0, 1]) + file[33...]
  }

  private static func thumbnail(_ file: [UInt8], _ spec: ThumbnailSpec) throws -> Thumbnail {
    try #require(try Renderer().render(file, specs: [spec]).thumbnails.first)
  }

  private static func spec(
    _ format: ThumbnailSpec.Format, _ colors: ThumbnailSpec.Colors, fit: ThumbnailSpec.Fit = .inside,
    background: ThumbnailSpec.Color = .white
  ) -> ThumbnailSpec {
    ThumbnailSpec(width: 8, fit: fit, format: format, quality: 100, background: background, colors: colors)
  }

  private static let formats: [ThumbnailSpec.Format] = {
    #if WebP
      [.png, .jpeg, .webp, .smallest]
    #else
      [.png, .jpeg]
    #endif
  }()

  private static func contains(_ text: String, in file: [UInt8]) -> Bool {
    file.firstRange(of: Array(text.utf8)) != nil
  }

  @Test(arguments: formats)
  func `The samples of an image in Display P3 stay, and the file says what they are`(
    format: ThumbnailSpec.Format
  ) throws {
    // A green that sRGB lacks.
    let file = try Self.image([10, 250, 30])
    let wide = try Self.thumbnail(file, Self.spec(format, .displayP3))
    let usual = try Self.thumbnail(file, Self.spec(format, .sRGB))

    let samples = try DecodedPixels(wide).at(2, 2)
    #expect(zip(samples, [10, 250, 30, 255]).allSatisfy { abs(Int($0) - $1) <= 4 }, "\(samples)")
    #expect(try DecodedPixels(usual).at(2, 2)[0] == 0)
    #expect(wide.isWhole && ThumbnailMark.isPresent(in: wide.bytes))
    // Read again, the file has the color of the image.
    let again = try Self.thumbnail(wide.bytes, Self.spec(.rgba, .sRGB)).bytes
    #expect(
      zip(again[..<3], try Self.thumbnail(file, Self.spec(.rgba, .sRGB)).bytes).allSatisfy {
        abs(Int($0) - Int($1)) <= 4
      })
  }

  @Test(.disabled(if: Sanitizer.isOn, "The sandbox stops a program with a sanitizer."), .decoderLibraries)
  func `An AVIF file has the primaries of Display P3`() throws {
    let file = try Self.image([10, 250, 30])
    let avif = try Self.thumbnail(file, Self.spec(.avif, .source)).bytes
    let place = try #require(avif.firstRange(of: Array("nclx".utf8))).upperBound

    #expect(Array(avif[place..<place + 4]) == [0, 12, 0, 13])
    let samples = try Self.thumbnail(avif, Self.spec(.png, .displayP3))
    #expect(zip(try DecodedPixels(samples).at(2, 2), [10, 250, 30, 255]).allSatisfy { abs(Int($0) - $1) <= 6 })
  }

  @Test(arguments: ["srgb-profile.jpg", "gray-profile.jpg", "cmyk-profile.jpg", "rgb-444.jpg", "gamma.png", "gray.png"])
  func `An image without colors that sRGB lacks is in sRGB`(name: String) throws {
    let file = try Fixtures.image(name)
    for colors in [ThumbnailSpec.Colors.displayP3, .source] {
      #expect(
        try Self.thumbnail(file, Self.spec(.auto, colors)).bytes == Self.thumbnail(file, Self.spec(.auto, .sRGB)).bytes)
    }
  }

  @Test(arguments: [ThumbnailSpec.Colors.displayP3, .source])
  func `An image of high dynamic range is mapped to the standard range in Display P3`(
    colors: ThumbnailSpec.Colors
  ) throws {
    // PQ with the primaries of BT.2020: white at 203 cd/m2, which stays light, and a green with some blue, which sRGB
    // has to leave out.
    for (color, isGray) in [([148, 148, 148], true), ([60, 130, 60], false)] as [([UInt8], Bool)] {
      let file = try Self.image(color, codePoints: [9, 16])
      let (wide, usual) = (
        try Self.thumbnail(file, Self.spec(.png, colors)), try Self.thumbnail(file, Self.spec(.png, .sRGB))
      )
      let (found, expected) = (try DecodedPixels(wide).at(2, 2), try DecodedPixels(usual).at(2, 2))
      #expect(zip(found, expected).allSatisfy { !isGray || abs(Int($0) - Int($1)) <= 1 }, "\(found) \(expected)")
      let isWide = found[2] > 0 && expected[2] == 0 && Self.contains("cICP", in: wide.bytes)
      #expect(isGray || isWide, "\(found) \(expected)")
    }
  }

  @Test func `The profile of the image is that of the file, byte for byte`() throws {
    let profile = try `Color profiles`.profile(of: "adobe-rgb.jpg")
    let file = try Fixtures.image("adobe-rgb.jpg")

    let jpeg = try Self.thumbnail(file, Self.spec(.jpeg, .source))
    let decoder = try #require(try JPEGDecoder(prefix: jpeg.bytes.span, limits: DecodingLimits(maxPixels: .max)))
    #expect(decoder.jpeg.profile.assembled(from: jpeg.bytes.span) == profile)

    let png = try Self.thumbnail(file, Self.spec(.png, .source))
    let (own, usual) = (try Self.thumbnail(file, Self.spec(.rgba, .sRGB)), Self.spec(.rgba, .sRGB))
    let again = try Self.thumbnail(png.bytes, usual)
    #expect(zip(own.bytes, again.bytes).allSatisfy { abs(Int($0) - Int($1)) <= 2 })
    #expect(Self.contains("iCCP", in: png.bytes) && !Self.contains("cICP", in: png.bytes))
  }

  @Test func `A profile that is too long for a segment is divided`() throws {
    let profile = (0..<140_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let plain = SampleImage.jpeg(width: 20, height: 10)
    let file = JPEGEncoder.declaring(.profile(profile), profile: profile, in: plain)
    let decoder = try #require(try JPEGDecoder(prefix: file.span, limits: DecodingLimits(maxPixels: .max)))

    #expect(decoder.jpeg.profile.assembled(from: file.span) == profile)
    #expect(JPEGEncoder.size(ofWhole: file.span) == PixelSize(width: 20, height: 10))
  }

  @Test func `The background has the same color in Display P3`() throws {
    let file = try Self.image([10, 250, 30, 255], layout: .rgba)
    let red = ThumbnailSpec.Color(red: 255, green: 0, blue: 0)
    let thumbnail = try Self.thumbnail(file, Self.spec(.jpeg, .displayP3, fit: .pad, background: red))

    // The red of sRGB in Display P3, by the equations of both.
    #expect(DisplayP3.color(red) == ThumbnailSpec.Color(red: 234, green: 51, blue: 35))
    #expect(DisplayP3.color(.white) == .white)
    #expect(zip(try DecodedPixels(thumbnail).at(0, 0), [234, 51, 35]).allSatisfy { abs(Int($0) - $1) <= 6 })
  }

  @Test func `The profile of Display P3 has its primaries and nothing to convert`() throws {
    var warnings: [String] = []
    let profile = SourceColors.profile(DisplayP3.profile)
    let cache = ColorTransformCache()

    #expect(try cache.transform(of: profile, model: .RGB, to: .displayP3, warnings: &warnings) == nil)
    let toSRGB = try #require(try cache.transform(of: profile, model: .RGB, warnings: &warnings))
    #expect(toSRGB.losesColors && warnings.isEmpty && DisplayP3.profile.count < 520)
  }

  @Test(arguments: [ThumbnailSpec.Colors.displayP3, .source])
  func `Linear light needs sRGB`(colors: ThumbnailSpec.Colors) {
    let spec = ThumbnailSpec(width: 8, light: .linear, colors: colors)
    #expect(throws: ImageError(.badSpec, "Linear light needs the colors of sRGB.")) { try Renderer().check([spec]) }
  }
}
