import Testing

@testable import ImageCache

@Suite struct `The plan of a picture's thumbnails` {
  private static func header(_ format: ImageFormat = .jpeg, width: Int = 2000, height: Int = 1500) -> ImageHeader {
    ImageHeader(format: format, storedSize: PixelSize(width: width, height: height), layout: .rgb)
  }

  /// The indices of steps, each with those made of it.
  private static func tree(_ steps: [RenderPlan.Step]) -> String {
    steps.map { $0.smaller.isEmpty ? "\($0.index)" : "\($0.index)(\(tree($0.smaller)))" }.joined(separator: " ")
  }

  private static func plan(_ specs: [ThumbnailSpec], of header: ImageHeader = header()) -> RenderPlan {
    RenderPlan(header: header, specs: specs)
  }

  @Test func `makes each size of the next larger that has twice its pixels on a side`() {
    let plan = Self.plan([64, 512, 128, 256].map { ThumbnailSpec(width: $0) })
    #expect(Self.tree(plan.steps) == "1(3(2(0)))")
    #expect(plan.shrink == 1)
  }

  @Test func `makes sizes that are too near of the decoded picture`() {
    #expect(Self.tree(Self.plan([300, 200, 150, 90].map { ThumbnailSpec(width: $0) }).steps) == "0(2) 1(3)")
  }

  @Test func `mixes neither parts, nor filters, nor light`() {
    let large = ThumbnailSpec(width: 400)
    let others = [
      ThumbnailSpec(width: 100, fit: .cover), ThumbnailSpec(width: 100, filter: .box),
      ThumbnailSpec(width: 100, light: .linear), ThumbnailSpec(width: 3000),
    ]
    for other in others { #expect(Self.plan([large, other]).steps.count == 2) }
  }

  @Test func `copies before it mixes, and mixes light before numbers`() {
    let specs = [
      ThumbnailSpec(width: 100), ThumbnailSpec(width: 90, light: .linear), ThumbnailSpec(width: 5000),
    ]
    #expect(Self.plan(specs).steps.map(\.mixing) == [.none, .light, .numbers])
  }

  /// 4:2:2 has half as many samples of chroma across as down. A file with 4:2:0 wants no more of them; one with 4:4:4,
  /// or pixels, do.
  @Test(arguments: [
    (1, 360, 82, ThumbnailSpec.Format.auto, 2), (2, 360, 82, .auto, 2), (2, 360, 82, .jpeg, 2), (4, 360, 82, .auto, 1),
    (2, 360, 90, .auto, 1), (2, 360, 82, .png, 1), (1, 360, 82, .png, 2), (2, 240, 90, .auto, 2), (2, 240, 82, .png, 2),
    (2, 120, 82, .auto, 8), (2, 120, 90, .auto, 4), (4, 120, 82, .auto, 4), (2, 500, 82, .auto, 1),
    (2, 501, 82, .auto, 1),
  ])
  func `shrinks luma and chroma each as far as twice the thumbnail`(
    stretch: Int, width: Int, quality: Int, format: ThumbnailSpec.Format, shrink: Int
  ) {
    var header = Self.header(width: 1920, height: 1440)
    header.chromaStretch = stretch
    #expect(Self.plan([ThumbnailSpec(width: width, format: format, quality: quality)], of: header).shrink == shrink)
  }

  @Test func `shrinks no further than the most demanding of its thumbnails`() {
    var header = Self.header(width: 1920, height: 1440)
    header.chromaStretch = 2
    let specs = [ThumbnailSpec(width: 120), ThumbnailSpec(width: 240, format: .png)]
    #expect(Self.plan(specs, of: header).shrink == 2)
  }

  @Test(arguments: [ThumbnailSpec.Format.auto, .jpeg])
  func `keeps luma and chroma from one JPEG file to the next`(format: ThumbnailSpec.Format) {
    #expect(Self.plan([ThumbnailSpec(width: 256, format: format), ThumbnailSpec(width: 64)]).form == .planes)
  }

  @Test(arguments: [
    ThumbnailSpec(width: 256, format: .png), ThumbnailSpec(width: 256, fit: .pad),
    ThumbnailSpec(width: 256, light: .linear), ThumbnailSpec(width: 1900), ThumbnailSpec(width: 900, quality: 95),
  ])
  func `takes pixels where one thumbnail needs them`(spec: ThumbnailSpec) {
    #expect(Self.plan([ThumbnailSpec(width: 64), spec]).form == .pixels)
  }

  @Test func `takes pixels of PNG files`() {
    #expect(Self.plan([ThumbnailSpec(width: 64, format: .jpeg)], of: Self.header(.png)).form == .pixels)
  }
}
