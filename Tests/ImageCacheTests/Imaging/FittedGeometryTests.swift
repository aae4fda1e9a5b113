import Testing

@testable import ImageCache

@Suite struct `The geometry of a thumbnail` {
  struct Case: CustomTestStringConvertible {
    var source: (Int, Int)
    var box: (Int, Int)
    var content: (Int, Int)
    var testDescription: String { "\(source) in \(box)" }
  }

  private static func size(_ pair: (Int, Int)) -> PixelSize { PixelSize(width: pair.0, height: pair.1) }

  @Test(arguments: [
    Case(source: (1600, 1200), box: (256, 256), content: (256, 192)),
    Case(source: (1200, 1600), box: (256, 256), content: (192, 256)),
    Case(source: (3000, 2000), box: (100, 100), content: (100, 67)),
    Case(source: (4000, 1000), box: (200, 200), content: (200, 50)),
    Case(source: (1, 20000), box: (256, 256), content: (1, 256)),
    Case(source: (20000, 1), box: (256, 256), content: (256, 1)),
    Case(source: (100, 50), box: (256, 256), content: (100, 50)),
    Case(source: (256, 256), box: (256, 256), content: (256, 256)),
    Case(source: (257, 256), box: (256, 256), content: (256, 255)),
    Case(source: (1, 1), box: (64, 64), content: (1, 1)),
    Case(source: (300, 200), box: (200, 300), content: (200, 133)),
  ])
  func `Inside keeps the aspect ratio and fits in the box`(_ sample: Case) {
    let spec = ThumbnailSpec(width: sample.box.0, height: sample.box.1)

    let geometry = FittedGeometry(source: Self.size(sample.source), spec: spec)

    #expect(geometry.content == Self.size(sample.content))
    #expect(geometry.canvas == Self.size(sample.content))
  }

  @Test(arguments: [
    Case(source: (100, 50), box: (256, 256), content: (256, 128)),
    Case(source: (1, 1), box: (64, 64), content: (64, 64)),
    Case(source: (10, 30), box: (100, 60), content: (20, 60)),
  ])
  func `A small image is enlarged if that is allowed`(_ sample: Case) {
    let spec = ThumbnailSpec(width: sample.box.0, height: sample.box.1, enlargement: .allowed)

    #expect(FittedGeometry(source: Self.size(sample.source), spec: spec).content == Self.size(sample.content))
  }

  @Test(arguments: [
    ((400, 300), false, (100, 50), (100, 75)), ((300, 400), false, (100, 100), (100, 133)),
    ((80, 300), false, (100, 100), (80, 300)), ((80, 300), true, (100, 100), (100, 375)),
    ((100, 100), false, (100, 100), (100, 100)), ((300, 60_000), false, (256, 256), (82, 16_383)),
    ((1, 100_000), true, (256, 256), (1, 16_383)), ((20_000, 200), false, (100, 100), (10_000, 100)),
    ((1000, 2000), true, (8000, 8000), (5792, 11_585)), ((12_000, 8000), false, (7000, 7000), (10_033, 6688)),
  ])
  func `The fit outside covers the box without a crop, up to its longest side`(
    source: (Int, Int), enlarges: Bool, box: (Int, Int), expected: (Int, Int)
  ) {
    let spec = ThumbnailSpec(
      width: box.0, height: box.1, fit: .outside, enlargement: enlarges ? .allowed : .never)
    let source = PixelSize(width: source.0, height: source.1)
    let geometry = FittedGeometry(source: source, spec: spec, maxContent: 1 << 26)

    #expect(geometry.content == PixelSize(width: expected.0, height: expected.1))
    #expect(geometry.canvas == geometry.content && geometry.crop == PixelBox(size: source))
  }

  @Test(arguments: [(1600, 1200), (1200, 1600), (64, 64), (1000, 65)], [(64, 64), (64, 32)])
  func `Cover fills the box exactly with the center of the image`(source: (Int, Int), box: (Int, Int)) {
    let spec = ThumbnailSpec(width: box.0, height: box.1, fit: .cover)

    let geometry = FittedGeometry(source: Self.size(source), spec: spec)

    #expect(geometry.content == Self.size(box))
    #expect(abs(geometry.crop.width / geometry.crop.height - Double(box.0) / Double(box.1)) < 1e-9)
    #expect(abs(geometry.crop.left - (Double(source.0) - geometry.crop.right)) < 1e-9)
    #expect(abs(geometry.crop.top - (Double(source.1) - geometry.crop.bottom)) < 1e-9)
    #expect(geometry.crop.width == Double(source.0) || geometry.crop.height == Double(source.1))
  }

  @Test func `Cover crops an image that may not be enlarged without scaling it`() {
    let spec = ThumbnailSpec(width: 100, fit: .cover)

    let geometry = FittedGeometry(source: PixelSize(width: 1001, height: 50), spec: spec)

    #expect(geometry.content == PixelSize(width: 100, height: 50))
    #expect(geometry.crop == PixelBox(left: 450, top: 0, right: 550, bottom: 50))
    #expect(!geometry.scales)
  }

  @Test func `Pad centers the content on a canvas as large as the box`() {
    let spec = ThumbnailSpec(width: 100, height: 80, fit: .pad)

    let geometry = FittedGeometry(source: PixelSize(width: 200, height: 40), spec: spec)

    #expect(geometry.content == PixelSize(width: 100, height: 20))
    #expect(geometry.canvas == PixelSize(width: 100, height: 80))
    #expect(geometry.origin == (0, 30))
  }

  @Test func `Stretch ignores the aspect ratio and enlarges only if that is allowed`() {
    let source = PixelSize(width: 300, height: 20)

    let kept = FittedGeometry(source: source, spec: ThumbnailSpec(width: 100, height: 80, fit: .stretch))
    #expect(kept.content == PixelSize(width: 100, height: 20))

    let grown = FittedGeometry(
      source: source, spec: ThumbnailSpec(width: 100, height: 80, fit: .stretch, enlargement: .allowed))
    #expect(grown.content == PixelSize(width: 100, height: 80))
  }

  @Test func `The scale multiplies the box`() {
    let geometry = FittedGeometry(source: PixelSize(width: 900, height: 900), spec: ThumbnailSpec(width: 64, scale: 2))

    #expect(geometry.content == PixelSize(width: 128, height: 128))
  }

  @Test(arguments: ThumbnailSpec.Fit.allCases)
  func `No side is ever zero`(fit: ThumbnailSpec.Fit) {
    for source in [(1, 20000), (20000, 1), (1, 1), (3, 65535)] {
      for box in [(1, 1), (1, 300), (300, 1)] {
        let geometry = FittedGeometry(
          source: Self.size(source), spec: ThumbnailSpec(width: box.0, height: box.1, fit: fit))
        #expect(geometry.content.width >= 1 && geometry.content.height >= 1)
        #expect(geometry.crop.width > 0 && geometry.crop.height > 0)
      }
    }
  }

  @Test(arguments: [(1.0, 1), (3.9, 1), (4, 2), (7.9, 2), (8, 4), (15.9, 4), (16, 8), (100, 8), (0.5, 1)])
  func `A JPEG is shrunk while decoding to no less than twice the thumbnail`(reduction: Double, factor: Int) {
    let size = PixelSize(width: 1600, height: 1200)

    #expect(JPEGShrink.factor(for: [.init(reduction: reduction)], of: size) == factor)
    #expect(JPEGShrink.factor(for: [.init(reduction: 1000), .init(reduction: reduction)], of: size) == factor)
  }

  @Test(arguments: [((1601, 1203), 8), ((37, 811), 1), ((38, 808), 2), ((44, 808), 4), ((40, 808), 8)])
  func `A JPEG is not shrunk while decoding if that loses a visible part`(size: (Int, Int), factor: Int) {
    #expect(JPEGShrink.factor(for: [.init(reduction: 20)], of: Self.size(size)) == factor)
  }
}
