import Testing

@testable import ImageCache

@Suite struct `Cropping by gravity` {
  /// Red rises from left to right, and green from top to bottom.
  private static func file(_ kind: OrientedImage.Kind, _ orientation: Orientation, _ size: PixelSize) throws -> [UInt8]
  {
    try OrientedImage.file(kind, orientation, size: size) { x, y in
      [UInt8(x * 255 / (size.width - 1)), UInt8(y * 255 / (size.height - 1)), 128, 255]
    }
  }

  /// Squares of a wide and of a tall image, and the part of the red or green range in their middle. That part is the
  /// given one unless it is less than a quarter from an edge.
  @Test(arguments: Orientation.allCases, [OrientedImage.Kind.jpeg, .png])
  func `The crop is that of the upright image`(orientation: Orientation, kind: OrientedImage.Kind) throws {
    let (wide, tall) = (PixelSize(width: 200, height: 100), PixelSize(width: 100, height: 200))
    for (text, x, y) in [("west", 0.25, 0.5), ("40%,60%", 0.4, 0.6), ("southeast", 0.75, 0.75)] {
      let gravity = try #require(Gravity(text))
      for (size, channel, place) in [(wide, 0, x), (tall, 1, y)] {
        let file = try Self.file(kind, orientation, size)
        for spec in [
          ThumbnailSpec(width: 21, fit: .cover, gravity: gravity),
          ThumbnailSpec(width: 100, fit: .cover, gravity: gravity),
          ThumbnailSpec(width: 121, fit: .cover, gravity: gravity, enlargement: .allowed),
        ] {
          let thumbnail = try #require(try Renderer().render(file, specs: [spec]).thumbnails.first)
          let middle = try DecodedPixels(thumbnail).at(spec.box.width / 2, spec.box.width / 2)
          #expect(thumbnail.size == spec.box)
          #expect(abs(Double(middle[channel]) - 255 * place) < 9 && abs(Double(middle[1 - channel]) - 127.5) < 9)
        }
      }
    }
  }

  @Test(arguments: [ThumbnailSpec.Fit.inside, .pad, .stretch])
  func `It has no effect with another fit`(fit: ThumbnailSpec.Fit) throws {
    let file = try Self.file(.png, .upright, PixelSize(width: 90, height: 30))
    let specs = [Gravity.center, .smart, Gravity(x: 0, y: 0)].compactMap { gravity in
      gravity.map { ThumbnailSpec(width: 16, fit: fit, gravity: $0) }
    }

    let thumbnails = try specs.flatMap { try Renderer().render(file, specs: [$0]).thumbnails }

    #expect(thumbnails.count == 3 && Set(thumbnails.map(\.bytes)).count == 1)
  }

  @Test func `A thumbnail is made from another one only with the same crop`() throws {
    func tree(_ gravities: Gravity...) -> [Int] {
      let image = ImageHeader(format: .png, storedSize: PixelSize(width: 2000, height: 1500), layout: .rgb)
      let specs = zip([400, 100], gravities).map { ThumbnailSpec(width: $0, fit: .cover, gravity: $1) }
      return RenderPlan(PNGDecoder(PNGHeader(image: image)), specs: specs).steps.map(\.smaller.count)
    }
    let (west, east) = (try #require(Gravity("west")), try #require(Gravity("east")))

    #expect(tree(west, west) == [1] && tree(.smart, .smart) == [1])
    #expect(tree(west, east) == [0, 0] && tree(west, .center) == [0, 0] && tree(.smart, .center) == [0, 0])
  }

  @Test func `Several crops of one image are made at once`() throws {
    let file = try Self.file(.jpeg, .turnedRight, PixelSize(width: 400, height: 200))
    let gravities = ["west", "center", "east"].compactMap { Gravity($0) }
    let specs = gravities.flatMap { gravity in
      [100, 40].map { ThumbnailSpec(width: $0, fit: .cover, gravity: gravity) }
    }

    let thumbnails = try Renderer().render(file, specs: specs).thumbnails

    let middles = try thumbnails.map { Double(try DecodedPixels($0).at($0.size.width / 2, 20)[0]) / 255 }
    for (middle, place) in zip(middles, [0.25, 0.25, 0.5, 0.5, 0.75, 0.75]) { #expect(abs(middle - place) < 0.02) }
  }
}
