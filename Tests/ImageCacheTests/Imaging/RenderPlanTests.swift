import CImage
import Testing

@testable import ImageCache

@Suite struct `The render plan` {
  private static func jpeg(width: Int = 2000, height: Int = 1500, chromaStretch: Int = 1) -> JPEGDecoder {
    let size = PixelSize(width: width, height: height)
    return JPEGDecoder(
      JPEGHeader(image: ImageHeader(format: .jpeg, storedSize: size, layout: .rgb), chromaStretch: chromaStretch))
  }

  /// Returns the indices of the steps, each followed by those made from it in parentheses.
  private static func tree(_ steps: [RenderPlan.Step]) -> String {
    steps.map { $0.smaller.isEmpty ? "\($0.index)" : "\($0.index)(\(tree($0.smaller)))" }.joined(separator: " ")
  }

  private static func plan(_ specs: [ThumbnailSpec]) -> RenderPlan { RenderPlan(jpeg(), specs: specs) }

  /// Returns the decoder after it has chosen how to decode the image for `specs`.
  private static func adapted(_ decoder: JPEGDecoder = jpeg(), to specs: [ThumbnailSpec]) -> JPEGDecoder {
    var decoder = decoder
    decoder.adapt(to: RenderPlan(decoder, specs: specs).demand)
    return decoder
  }

  @Test func `Each size is made from the next larger one that has at least twice its width`() {
    let specs = [64, 512, 128, 256].map { ThumbnailSpec(width: $0) }

    #expect(Self.tree(Self.plan(specs).steps) == "1(3(2(0)))")
    #expect(Self.adapted(to: specs).shrink == 1)
  }

  @Test func `A placeholder is made from a thumbnail of twice its size, and keeps no JPEG file from its planes`() {
    let specs = [ThumbnailSpec(width: 256), .placeholder]

    #expect(Self.tree(Self.plan(specs).steps) == "0(1)")
    #expect(Self.adapted(to: specs).form == .planes && Self.adapted(to: [.placeholder]).form == .planes)
  }

  @Test func `A size close to the next larger one is made from the decoded image`() {
    #expect(Self.tree(Self.plan([300, 200, 150, 90].map { ThumbnailSpec(width: $0) }).steps) == "0(2) 1(3)")
  }

  @Test func `A thumbnail is not made from one with another crop, filter or light`() {
    let large = ThumbnailSpec(width: 400)
    let others = [
      ThumbnailSpec(width: 100, fit: .cover), ThumbnailSpec(width: 100, filter: .box),
      ThumbnailSpec(width: 100, light: .linear), ThumbnailSpec(width: 3000),
    ]

    for other in others { #expect(Self.plan([large, other]).steps.count == 2) }
  }

  /// 4:2:2 has chroma at half the resolution across. That is enough for 4:2:0 output, but not for 4:4:4 output or
  /// pixels.
  @Test(arguments: [
    (1, 360, 82, ThumbnailSpec.Format.auto, 2), (2, 360, 82, .auto, 2), (2, 360, 82, .jpeg, 2), (4, 360, 82, .auto, 1),
    (2, 360, 90, .auto, 1), (2, 360, 82, .png, 1), (1, 360, 82, .png, 2), (2, 240, 90, .auto, 2), (2, 240, 82, .png, 2),
    (2, 120, 82, .auto, 8), (2, 120, 90, .auto, 4), (4, 120, 82, .auto, 4), (2, 500, 82, .auto, 1),
    (2, 501, 82, .auto, 1),
  ])
  func `Luma and chroma are each shrunk to no less than twice the thumbnail`(
    stretch: Int, width: Int, quality: Int, format: ThumbnailSpec.Format, shrink: Int
  ) {
    let decoder = Self.jpeg(width: 1920, height: 1440, chromaStretch: stretch)
    let spec = ThumbnailSpec(width: width, format: format, quality: quality)

    #expect(Self.adapted(decoder, to: [spec]).shrink == shrink)
  }

  @Test func `The most demanding thumbnail limits the shrink factor`() {
    let decoder = Self.jpeg(width: 1920, height: 1440, chromaStretch: 2)
    let specs = [ThumbnailSpec(width: 120), ThumbnailSpec(width: 240, format: .png)]

    #expect(Self.adapted(decoder, to: specs).shrink == 2)
  }

  @Test(arguments: [ThumbnailSpec.Format.auto, .jpeg])
  func `JPEG thumbnails of a JPEG source are made from planes`(format: ThumbnailSpec.Format) {
    #expect(Self.adapted(to: [ThumbnailSpec(width: 256, format: format), ThumbnailSpec(width: 64)]).form == .planes)
  }

  @Test(arguments: [
    ThumbnailSpec(width: 256, format: .png), ThumbnailSpec(width: 256, fit: .pad),
    ThumbnailSpec(width: 256, light: .linear), ThumbnailSpec(width: 1900), ThumbnailSpec(width: 900, quality: 95),
  ])
  func `All thumbnails are made from pixels if one of them needs pixels`(spec: ThumbnailSpec) {
    #expect(Self.adapted(to: [ThumbnailSpec(width: 64), spec]).form == .pixels)
  }

  @Test(arguments: [PixelLayout.gray, .rgb])
  func `A JPEG that is gray or CMYK is decoded into pixels`(layout: PixelLayout) {
    let image = ImageHeader(format: .jpeg, storedSize: PixelSize(width: 2000, height: 1500), layout: layout)
    let decoder = JPEGDecoder(JPEGHeader(image: image, isCMYK: layout == .rgb))

    #expect(Self.adapted(decoder, to: [ThumbnailSpec(width: 64)]).form == .pixels)
  }

  @Test func `Automatic output has the format of the source`() {
    let png = ImageHeader(format: .png, storedSize: PixelSize(width: 2000, height: 1500), layout: .rgb)
    let plan = RenderPlan(PNGDecoder(PNGHeader(image: png)), specs: [ThumbnailSpec(width: 64)])

    #expect(plan.steps[0].encoder is PNGEncoder && plan.demand.form == .pixels)
    #expect(Self.plan([ThumbnailSpec(width: 64)]).steps[0].encoder is JPEGEncoder)
    #expect(Self.plan([ThumbnailSpec(width: 64, format: .png)]).steps[0].encoder is PNGEncoder)
  }

  @Test func `Linear light needs every pixel`() {
    let specs = [ThumbnailSpec(width: 64), ThumbnailSpec(width: 64, light: .linear)]

    #expect(Self.plan(specs).demand.targets.map(\.reduction) == [31.25, 1])
    #expect(Self.adapted(to: specs).shrink == 1)
  }

  @Test func `Only the part of the stored image that a thumbnail shows is needed`() throws {
    // 400 by 300 pixels, displayed as 300 by 400.
    var image = ImageHeader(format: .png, storedSize: PixelSize(width: 400, height: 300), layout: .rgb)
    image.orientation = .turnedRight
    let (square, tall) = (
      ThumbnailSpec(width: 50, fit: .cover, filter: .box), ThumbnailSpec(width: 150, height: 400, fit: .cover)
    )

    for (specs, expected) in [
      ([square], [50, 0, 350, 300]), ([tall], [0, 75, 400, 225]), ([square, tall], [0, 0, 400, 300]),
      ([], [0, 0, 1, 1]),
    ] {
      let scaler = ImageScaler(
        RenderPlan(PNGDecoder(PNGHeader(image: image)), specs: specs), header: image, caches: RenderingCaches())
      let whole = PlaneShape(size: image.storedSize, area: PixelBox(size: image.storedSize))
      try scaler.begin(DecodedShape(layout: .rgb, planes: [whole]))
      let needed = scaler.needed(ofPlane: 0)
      #expect([needed.left, needed.top, needed.right, needed.bottom].map(Int.init) == expected)
    }
  }
}
