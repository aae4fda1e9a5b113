import TestSupport
import Testing

@testable import ImageCache

@Suite struct `Icons and cursors` {
  private func failure(_ bytes: [UInt8], maxPixels: Int = 1 << 20) -> ImageError? {
    do throws(ImageError) {
      _ = try Renderer(maxPixels: maxPixels).render(bytes, specs: [ThumbnailSpec(width: 16)])
      return nil
    } catch {
      return error
    }
  }

  /// Returns the first pixel of a thumbnail.
  private func color(_ bytes: [UInt8], _ spec: ThumbnailSpec) throws -> [UInt8] {
    try DecodedPixels(Renderer().render(bytes, specs: [spec]).thumbnails[0]).at(0, 0)
  }

  private static let red: [UInt8] = [255, 0, 0, 255]
  private static let green: [UInt8] = [0, 255, 0, 255]
  private static let blue: [UInt8] = [0, 0, 255, 255]

  /// An icon with a red, a blue and a green image, each larger than the one before.
  private static let sizes = SampleBitmap.icon([
    SampleBitmap.entry(width: 16, height: 16, red: 255), SampleBitmap.entry(width: 48, height: 48, blue: 255),
    SampleBitmap.entry(width: 32, height: 32, green: 255),
  ])

  @Test(arguments: Fixtures.exact.filter { $0.hasSuffix(".ico") || $0.hasSuffix(".cur") })
  func `A file cut anywhere is truncated, or shows with a warning what it has`(name: String) throws {
    let bytes = try Fixtures.exactImage(name)

    for count in (3..<bytes.count).cutPositions() {
      let cut = Array(bytes.prefix(count))
      guard let failure = failure(cut) else {
        let rendering = try Renderer().render(cut, specs: [ThumbnailSpec(width: 16)])
        let isExplained = rendering.warnings.contains { $0.contains("ends before") || $0.contains("not in the file") }
        #expect(isExplained, "cut to \(count)")
        continue
      }
      #expect(failure.code == .truncated, "cut to \(count)")
    }
    #expect(try Renderer().render(bytes, specs: [ThumbnailSpec(width: 16)]).warnings.isEmpty)
  }

  @Test(arguments: [(1, red), (16, red), (17, green), (32, green), (33, blue), (48, blue), (200, blue)])
  func `The smallest image that has enough pixels is decoded`(width: Int, expected: [UInt8]) throws {
    let rendering = try Renderer().render(Self.sizes, specs: [ThumbnailSpec(width: width, format: .png)])

    #expect(rendering.source.size == PixelSize(width: 48, height: 48) && rendering.source.format == .ico)
    #expect(rendering.thumbnails[0].size.width == min(width, 48))
    #expect(try DecodedPixels(rendering.thumbnails[0]).at(0, 0) == expected)
  }

  @Test func `One image serves all thumbnails`() throws {
    let rendering = try Renderer().render(Self.sizes, specs: [ThumbnailSpec(width: 8), ThumbnailSpec(width: 20)])

    #expect(try rendering.thumbnails.map { try DecodedPixels($0).at(0, 0) } == [Self.green, Self.green])
  }

  @Test func `The largest image is decoded to enlarge it and for linear light`() throws {
    #expect(try color(Self.sizes, ThumbnailSpec(width: 100, enlargement: .allowed)) == Self.blue)
    #expect(try color(Self.sizes, ThumbnailSpec(width: 16, light: .linear)) == Self.blue)
  }

  @Test func `A crop is made from an image with enough pixels for it`() throws {
    let spec = ThumbnailSpec(width: 16, height: 8, fit: .cover)
    #expect(try color(Self.sizes, spec) == Self.red)
    #expect(try color(Self.sizes, ThumbnailSpec(width: 10, height: 20, fit: .cover)) == Self.green)
  }

  @Test func `A thumbnail of the size of an image has its pixels`() throws {
    let rows: [[UInt8]] = [[1, 2, 3, 200, 100, 50], [9, 8, 7, 70, 80, 90]]
    let header = SampleBitmap.header(width: 2, height: 4, bits: 24)
    let small = header + rows.flatMap { $0 + [0, 0] } + Array(repeating: 0, count: 8)
    let icon = SampleBitmap.icon([SampleBitmap.entry(width: 50, height: 50), small])

    let thumbnail = try Renderer().render(icon, specs: [ThumbnailSpec(width: 2)]).thumbnails[0]

    #expect(
      try DecodedPixels(thumbnail).samples == [7, 8, 9, 255, 90, 80, 70, 255, 3, 2, 1, 255, 50, 100, 200, 255])
  }

  @Test func `A smaller PNG file shows the whole image`() throws {
    let icon = SampleBitmap.icon([
      SampleImage.png(width: 64, height: 64), SampleImage.png(width: 16, height: 16, seed: 1),
    ])
    let spec = ThumbnailSpec(width: 16, format: .png)

    let small = try Renderer().render(icon, specs: [spec]).thumbnails[0]

    // Premultiplied alpha rounds colors.
    let error = try DecodedPixels(small).meanError(
      to: DecodedPixels(file: SampleImage.png(width: 16, height: 16, seed: 1)))
    #expect(error.allSatisfy { $0 < 1 }, "\(error)")
  }

  @Test func `Of images of equal size, the one with the most bits is decoded`() throws {
    let deep = SampleBitmap.entry(width: 16, height: 16, bits: 32, red: 255)
    let flat = SampleBitmap.entry(width: 16, height: 16, green: 255)

    for icon in [[deep, flat], [flat, deep]] {
      #expect(try color(SampleBitmap.icon(icon), ThumbnailSpec(width: 16)) == Self.red)
    }
  }

  @Test func `An image of another shape than the largest is never decoded`() throws {
    let icon = SampleBitmap.icon([
      SampleBitmap.entry(width: 40, height: 16, red: 255), SampleBitmap.entry(width: 48, height: 48, blue: 255),
      SampleBitmap.entry(width: 24, height: 23, green: 255),
    ])

    #expect(try color(icon, ThumbnailSpec(width: 30)) == Self.blue)
    #expect(try color(icon, ThumbnailSpec(width: 20)) == Self.green)
  }

  @Test func `A small image takes the memory for its own size`() throws {
    let icon = SampleBitmap.icon([
      SampleImage.png(width: 16, height: 16), SampleImage.pngHeader(width: 2000, height: 2000),
    ])
    var file = try #require(try ImageFile(prefix: icon.span, limits: DecodingLimits(maxPixels: 1 << 23)))
    #expect(file.decoder.header.storedSize == PixelSize(width: 2000, height: 2000))
    #expect(file.decoder.peakBytes > 2000 * 2000 * 4)

    let plan = RenderPlan(file.decoder, specs: [ThumbnailSpec(width: 16)])
    file.decoder.adapt(to: plan.demand)

    #expect(file.decoder.peakBytes < 1 << 20)
  }

  @Test func `An image with a malformed header is ignored with a warning`() throws {
    let good = SampleBitmap.entry(width: 16, height: 16, red: 255)
    let empty = SampleBitmap.header(width: 0, height: 0, bits: 24)
    let unknown = SampleBitmap.bytes([41]) + Array(repeating: 0, count: 100)

    let rendering = try Renderer().render(
      SampleBitmap.icon([empty, good, unknown]), specs: [ThumbnailSpec(width: 16)])

    #expect(try DecodedPixels(rendering.thumbnails[0]).at(0, 0) == Self.red)
    #expect(
      rendering.warnings == [1, 3].map { "ignored image \($0) of the icon, whose header is invalid" })
    #expect(failure(SampleBitmap.icon([empty, unknown]))?.code == .decodeError)
  }

  @Test func `An image inside the directory is ignored with a warning`() throws {
    var icon = SampleBitmap.icon([
      SampleBitmap.entry(width: 16, height: 16, red: 255), SampleBitmap.entry(width: 32, height: 32, green: 255),
    ])
    (icon[22 + 12], icon[22 + 13]) = (37, 0)

    let rendering = try Renderer().render(icon, specs: [ThumbnailSpec(width: 32)])

    #expect(rendering.source.size == PixelSize(width: 16, height: 16))
    #expect(rendering.warnings == ["ignored image 2 of the icon, which overlaps the directory"])
  }

  @Test func `An image past the end of the file is ignored with a warning`() throws {
    for index in 0..<2 {
      var icon = SampleBitmap.icon([
        SampleBitmap.entry(width: 16, height: 16, red: 255), SampleBitmap.entry(width: 32, height: 32, green: 255),
      ])
      icon[6 + 16 * index + 14] = 9

      let rendering = try Renderer().render(icon, specs: [ThumbnailSpec(width: 32)])

      #expect(try DecodedPixels(rendering.thumbnails[0]).at(0, 0) == (index == 0 ? Self.green : Self.red))
      #expect(rendering.warnings == ["ignored image \(index + 1) of the icon, which is not in the file"])
      icon[6 + 16 * (1 - index) + 14] = 9
      #expect(failure(icon)?.code == .truncated)
    }
  }

  @Test func `A damaged image is replaced by the next largest one`() throws {
    let runs = SampleBitmap.header(width: 64, height: 128, bits: 8, compression: 1)
    let icon = SampleBitmap.icon([
      SampleBitmap.entry(width: 16, height: 16, red: 255), runs + Array(repeating: 0, count: 2000),
      SampleBitmap.entry(width: 32, height: 32, green: 255),
    ])

    let rendering = try Renderer().render(icon, specs: [ThumbnailSpec(width: 64)])

    #expect(try DecodedPixels(rendering.thumbnails[0]).at(0, 0) == Self.green)
    #expect(rendering.warnings.count == 1 && rendering.warnings[0].hasPrefix("ignored an image of the icon: "))
  }

  @Test(arguments: [1, 4, 8, 24]) func `Pixels without a mask are opaque`(bits: Int) throws {
    let whole = try Fixtures.exactImage("bits-\(bits).ico")

    let rendering = try Renderer().render(Array(whole.dropLast(8)), specs: [ThumbnailSpec(width: 200)])

    let warning = "the icon has no complete mask; its pixels are opaque where the mask is missing"
    #expect(rendering.warnings == ["the icon ends before its last image does", warning])
  }

  @Test func `Too many pixels are refused`() {
    let icon = SampleBitmap.icon([SampleBitmap.entry(width: 16, height: 16)])

    #expect(failure(icon, maxPixels: 256) == nil)
    #expect(failure(icon, maxPixels: 255)?.code == .tooManyPixels)
  }

  @Test func `Runs and embedded files other than PNG are unsupported`() {
    for (bits, compression) in [(8, 1), (4, 2), (0, 4)] {
      let header = SampleBitmap.header(width: 4, height: 8, bits: bits, compression: compression)
      let icon = SampleBitmap.icon([header + Array(repeating: 0, count: 2000)])
      #expect(failure(icon)?.code == .unsupportedFormat)
    }
  }

  /// Other files that begin with zeros: no images, an uncompressed TGA image, a TrueType font.
  private static let others: [[UInt8]] = [
    [0, 0, 1, 0, 0, 0], [0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 16, 0, 24, 0], [0, 1, 0, 0, 0, 9],
    [0, 0, 1, 0, 1, 0, 16, 16, 0, 0, 1, 0, 24, 0, 0, 0, 0, 1, 22, 0, 0, 0],
    [0, 0, 1, 0, 1, 0, 16, 16, 0, 0, 1, 0, 24, 0, 104, 3, 0, 0, 22, 0, 0, 1], [0, 0, 3, 0, 1, 0],
  ]

  @Test(arguments: others)
  func `Files that only begin like an icon are not images`(start: [UInt8]) {
    #expect(failure(start + Array(repeating: 0, count: 3000))?.code == .notAnImage)
  }
}
