import Testing

@testable import ImageCache

@Suite struct `The gravity of a crop` {
  @Test(arguments: [
    ("center", 50.0, 50.0), ("north", 50, 0), ("northeast", 100, 0), ("east", 100, 50), ("southeast", 100, 100),
    ("south", 50, 100), ("southwest", 0, 100), ("west", 0, 50), ("northwest", 0, 0), ("30%,70%", 30, 70),
    ("62.5%,0.01%", 62.5, 0.01), ("33.33%,100%", 33.33, 100),
  ])
  func `A text stands for a point, and is the only one that is printed for it`(text: String, x: Double, y: Double) {
    #expect(Gravity(text) == Gravity(x: x, y: y))
    #expect(Gravity(text)?.description == text)
  }

  @Test(arguments: [
    ("0%,100%", "southwest"), ("50%,50%", "center"), ("30% 70%", "30%,70%"), ("30%, 70%", "30%,70%"),
    ("033.3333%,.5%", "33.33%,0.5%"), ("smart", "smart"),
  ])
  func `Other forms of a place are accepted`(text: String, description: String) {
    #expect(Gravity(text)?.description == description)
  }

  @Test(arguments: [
    "", "top", "North", "30,70", "30%", "30%,", ",30%", "30%,70%,1%", "-1%,5%", "+1%,5%", "1e1%,5%", "nan%,5%",
    "100.01%,5%", "5%,101%", "1.2.3%,5%", "%,%", "30%\n,5%",
  ])
  func `Anything else is rejected`(text: String) { #expect(Gravity(text) == nil) }

  @Test(arguments: [-0.01, 100.01, .nan, .infinity])
  func `A point outside the image is rejected`(part: Double) {
    #expect(Gravity(x: part, y: 50) == nil && Gravity(x: 50, y: part) == nil)
  }

  /// A source of 1000 by 500 pixels, or 500 by 1000, and the first column or row of its square crop.
  @Test(arguments: [
    ("center", 250.0, 250.0), ("west", 0, 250), ("east", 500, 250), ("north", 250, 0), ("south", 250, 500),
    ("northwest", 0, 0), ("southeast", 500, 500), ("northeast", 500, 0), ("southwest", 0, 500), ("40%,60%", 150, 350),
    ("10%,90%", 0, 500), ("25%,75%", 0, 500), ("25.1%,74.9%", 1, 499), ("smart", 250, 250),
  ])
  func `The crop is as close to the point as the edges allow`(text: String, left: Double, top: Double) throws {
    let spec = ThumbnailSpec(width: 100, fit: .cover, gravity: try #require(Gravity(text)))
    let (wide, tall) = (PixelSize(width: 1000, height: 500), PixelSize(width: 500, height: 1000))

    let across = FittedGeometry(source: wide, spec: spec, maxContent: 1).crop
    let down = FittedGeometry(source: tall, spec: spec, maxContent: 1).crop

    #expect([across.left, across.width, across.top, across.height] == [left, 500, 0, 500])
    #expect([down.top, down.height, down.left, down.width] == [top, 500, 0, 500])
  }

  @Test func `A crop that is not scaled begins at a whole pixel`() throws {
    let spec = ThumbnailSpec(width: 100, fit: .cover, gravity: try #require(Gravity("20.05%,50%")))

    let geometry = FittedGeometry(source: PixelSize(width: 1001, height: 50), spec: spec)

    #expect(geometry.crop == PixelBox(left: 150, top: 0, right: 250, bottom: 50) && !geometry.scales)
  }

  @Test(arguments: [(1500, 1000, 150, 100), (1000, 1501, 100, 150), (1000, 50, 1000, 50)])
  func `A smart crop scales the whole image`(width: Int, height: Int, contentWidth: Int, contentHeight: Int) {
    let source = PixelSize(width: width, height: height)
    let spec = ThumbnailSpec(width: 100, fit: .cover, gravity: .smart)

    let geometry = FittedGeometry(source: source, spec: spec)

    #expect(geometry.crop == PixelBox(size: source) && geometry.cropsContent && !geometry.isPadded)
    #expect(geometry.content == PixelSize(width: contentWidth, height: contentHeight))
    #expect(geometry.canvas == PixelSize(width: 100, height: min(height, 100)))
  }

  @Test(arguments: [(10, 10000, Int.max), (200, 1, .max), (150, 100, 59_999)])
  func `A smart crop is the middle if the whole image would be too large`(width: Int, height: Int, limit: Int) {
    let source = PixelSize(width: width, height: height)
    let box = height == 1 ? PixelSize(width: 1000, height: 1000) : PixelSize(width: 300, height: 10)
    var spec = ThumbnailSpec(
      width: box.width, height: box.height, fit: .cover, gravity: .smart, enlargement: .allowed)

    let geometry = FittedGeometry(source: source, spec: spec, maxContent: limit)

    spec.gravity = .center
    #expect(geometry == FittedGeometry(source: source, spec: spec))
  }
}
