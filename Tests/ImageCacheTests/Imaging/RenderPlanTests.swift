import Testing

@testable import ImageCache

@Suite struct `The render plan` {
  private static func header(_ format: ImageFormat = .jpeg, width: Int = 2000, height: Int = 1500) -> ImageHeader {
    ImageHeader(format: format, storedSize: PixelSize(width: width, height: height), layout: .rgb)
  }

  /// Returns the indices of the steps, each followed by those made from it in parentheses.
  private static func tree(_ steps: [RenderPlan.Step]) -> String {
    steps.map { $0.smaller.isEmpty ? "\($0.index)" : "\($0.index)(\(tree($0.smaller)))" }.joined(separator: " ")
  }

  private static func plan(_ specs: [ThumbnailSpec], of header: ImageHeader = header()) -> RenderPlan {
    RenderPlan(header: header, specs: specs)
  }

  @Test func `Each size is made from the next larger one that has at least twice its width`() {
    let plan = Self.plan([64, 512, 128, 256].map { ThumbnailSpec(width: $0) })

    #expect(Self.tree(plan.steps) == "1(3(2(0)))")
    #expect(plan.shrink == 1)
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

  @Test func `Thumbnails that copy pixels come first, then linear light, then gamma-encoded values`() {
    let specs = [
      ThumbnailSpec(width: 100), ThumbnailSpec(width: 90, light: .linear), ThumbnailSpec(width: 5000),
    ]

    #expect(Self.plan(specs).steps.map(\.mixing) == [.none, .light, .numbers])
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
    var header = Self.header(width: 1920, height: 1440)
    header.chromaStretch = stretch

    #expect(Self.plan([ThumbnailSpec(width: width, format: format, quality: quality)], of: header).shrink == shrink)
  }

  @Test func `The most demanding thumbnail limits the shrink factor`() {
    var header = Self.header(width: 1920, height: 1440)
    header.chromaStretch = 2
    let specs = [ThumbnailSpec(width: 120), ThumbnailSpec(width: 240, format: .png)]

    #expect(Self.plan(specs, of: header).shrink == 2)
  }

  @Test(arguments: [ThumbnailSpec.Format.auto, .jpeg])
  func `JPEG thumbnails of a JPEG source are made from planes`(format: ThumbnailSpec.Format) {
    #expect(Self.plan([ThumbnailSpec(width: 256, format: format), ThumbnailSpec(width: 64)]).form == .planes)
  }

  @Test(arguments: [
    ThumbnailSpec(width: 256, format: .png), ThumbnailSpec(width: 256, fit: .pad),
    ThumbnailSpec(width: 256, light: .linear), ThumbnailSpec(width: 1900), ThumbnailSpec(width: 900, quality: 95),
  ])
  func `All thumbnails are made from pixels if one of them needs pixels`(spec: ThumbnailSpec) {
    #expect(Self.plan([ThumbnailSpec(width: 64), spec]).form == .pixels)
  }

  @Test func `Thumbnails of a PNG source are made from pixels`() {
    #expect(Self.plan([ThumbnailSpec(width: 64, format: .jpeg)], of: Self.header(.png)).form == .pixels)
  }
}
