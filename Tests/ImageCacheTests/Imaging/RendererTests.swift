import ImageCache
import TestSupport
import Testing

@Suite struct `The renderer` {
  @Test func `The thumbnails are in the order of the specs`() throws {
    let specs = [64, 16, 128, 16].map { ThumbnailSpec(width: $0, format: .png) }

    let rendering = try Renderer().render(SampleImage.jpeg(width: 300, height: 150), specs: specs)

    #expect(rendering.source == SourceImage(size: PixelSize(width: 300, height: 150), format: .jpeg))
    #expect(rendering.thumbnails.map(\.spec) == specs)
    #expect(rendering.thumbnails.map(\.size.width) == [64, 16, 128, 16])
    #expect(rendering.thumbnails.map(\.size.height) == [32, 8, 64, 8])
  }

  @Test func `The same bytes and specs give the same files`() throws {
    let image = SampleImage.jpeg(width: 300, height: 200, seed: 4)
    let specs = [ThumbnailSpec(width: 64), ThumbnailSpec(width: 64, format: .png)]

    #expect(
      try Renderer().render(image, specs: specs).thumbnails == Renderer().render(image, specs: specs).thumbnails)
  }

  @Test(arguments: [ThumbnailSpec.Format.auto, .jpeg, .png])
  func `A thumbnail has the requested format`(format: ThumbnailSpec.Format) throws {
    let spec = ThumbnailSpec(width: 32, format: format)

    let ofJPEG = try Renderer().render(SampleImage.jpeg(width: 64, height: 64), specs: [spec]).thumbnails[0]
    let ofPNG = try Renderer().render(SampleImage.png(width: 64, height: 64), specs: [spec]).thumbnails[0]

    #expect(ofJPEG.format == (format == .png ? .png : .jpeg))
    #expect(ofPNG.format == (format == .jpeg ? .jpeg : .png))
    for thumbnail in [ofJPEG, ofPNG] {
      #expect(thumbnail.bytes.starts(with: thumbnail.format == .png ? [0x89, 0x50] : [0xFF, 0xD8]))
      #expect(try DecodedPixels(thumbnail).size == PixelSize(width: 32, height: 32))
    }
  }

  @Test(arguments: ThumbnailSpec.Fit.allCases)
  func `A thumbnail has the exact size for every fit and aspect ratio`(fit: ThumbnailSpec.Fit) throws {
    for (width, height) in [(400, 3), (3, 400), (97, 61), (1, 1), (33, 33)] {
      let spec = ThumbnailSpec(width: 24, height: 20, fit: fit, enlargement: .allowed, format: .png)
      let image = SampleImage.jpeg(width: width, height: height)

      let thumbnail = try #require(try Renderer().render(image, specs: [spec]).thumbnails.first)

      #expect(try DecodedPixels(thumbnail).size == thumbnail.size)
      switch fit {
      case .inside, .outside: #expect(thumbnail.size.width == 24 || thumbnail.size.height == 20)
      case .cover, .pad, .stretch: #expect(thumbnail.size == PixelSize(width: 24, height: 20))
      }
    }
  }

  @Test(arguments: ThumbnailSpec.Filter.allCases, ThumbnailSpec.Light.allCases)
  func `An image that may not be enlarged keeps its pixels`(
    filter: ThumbnailSpec.Filter, light: ThumbnailSpec.Light
  ) throws {
    let image = SampleImage.png(width: 20, height: 10)
    let specs = [8, 64].map { ThumbnailSpec(width: $0, filter: filter, light: light) }

    let rendering = try Renderer().render(image, specs: specs)

    #expect(try DecodedPixels(rendering.thumbnails[1]) == DecodedPixels(file: image))
  }

  @Test func `Padding is transparent in PNG and has the background color in JPEG`() throws {
    let color = try #require(ThumbnailSpec.Color("2040c0"))
    let image = SampleImage.jpeg(width: 80, height: 20)
    let specs = [ThumbnailSpec.Format.png, .jpeg].map {
      ThumbnailSpec(width: 40, fit: .pad, format: $0, quality: 95, background: color)
    }

    let thumbnails = try Renderer().render(image, specs: specs).thumbnails

    let (png, jpeg) = (try DecodedPixels(thumbnails[0]), try DecodedPixels(thumbnails[1]))
    #expect(png.size == PixelSize(width: 40, height: 40) && jpeg.size == png.size)
    #expect(png.at(20, 2) == [0, 0, 0, 0])
    #expect(png.at(20, 20)[3] == 255)
    for (sample, expected) in zip(jpeg.at(20, 2), [0x20, 0x40, 0xC0, 0xFF]) { #expect(abs(Int(sample) - expected) < 6) }
  }

  @Test func `A gray image can have a colored background`() throws {
    let spec = ThumbnailSpec(
      width: 48, fit: .pad, format: .jpeg, quality: 95, background: .init(red: 255, green: 0, blue: 0))

    let rendering = try Renderer().render(Fixtures.image("gray-alpha.png"), specs: [spec])

    let corner = try DecodedPixels(rendering.thumbnails[0]).at(0, 0)
    #expect(corner[0] > 240 && corner[1] < 16 && corner[2] < 16)
  }

  @Test func `A gray JPEG stays gray`() throws {
    let rendering = try Renderer().render(Fixtures.image("gray.jpg"), specs: [ThumbnailSpec(width: 32)])

    let bytes = rendering.thumbnails[0].bytes
    // Start of frame, baseline: length, precision, height, width, and one component.
    let frame = try #require(bytes.indices.first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xC0 })
    #expect(bytes[frame + 9] == 1)
  }

  @Test(arguments: [(ThumbnailSpec.Scans.baseline, UInt8(0xC0)), (.progressive, 0xC2)])
  func `A JPEG thumbnail has the requested scan order`(scans: ThumbnailSpec.Scans, marker: UInt8) throws {
    let specs = [ThumbnailSpec.Scans.baseline, scans].map { ThumbnailSpec(width: 64, scans: $0) }

    let files = try Renderer().render(SampleImage.jpeg(width: 300, height: 200), specs: specs).thumbnails

    // Start of frame: marker, length 17, 8 bits per sample.
    let frame: [UInt8] = [0xFF, marker, 0, 17, 8]
    #expect(files[1].bytes.indices.contains { files[1].bytes[$0...].starts(with: frame) })
    #expect(try DecodedPixels(files[0]) == DecodedPixels(files[1]))
  }

  @Test func `The color of transparent pixels does not bleed into visible ones`() throws {
    let spec = ThumbnailSpec(width: 48, format: .png)

    let pixels = try DecodedPixels(Renderer().render(Fixtures.image("rgba.png"), specs: [spec]).thumbnails[0])

    // The hidden color is magenta, so bleeding would give visible pixels a green channel near 0.
    for index in 0..<pixels.size.area where pixels.samples[index * 4 + 3] > 32 {
      #expect(pixels.samples[index * 4 + 1] > 20)
    }
  }

  @Test func `Too many pixels are refused before they are allocated`() {
    let renderer = Renderer(maxPixels: 1_000_000)

    for image in [
      SampleImage.pngHeader(width: 60000, height: 60000), SampleImage.pngHeader(width: 1001, height: 1000),
    ] {
      let error = #expect(throws: ImageError.self) { try renderer.render(image, specs: [ThumbnailSpec(width: 8)]) }
      #expect(error?.code == .tooManyPixels)
    }
  }
}
