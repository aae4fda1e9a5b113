import Testing

@testable import ImageCache

@Suite struct `Thumbnails made in linear light` {
  /// Returns a PNG whose pixels alternate between two colors, like a chessboard.
  private func board(_ first: [UInt8], _ second: [UInt8], side: Int = 64) throws -> [UInt8] {
    let bitmap = try Bitmap(
      size: PixelSize(width: side, height: side), layout: [.gray, .gray, .grayAlpha, .rgb, .rgba][first.count])
    for index in 0..<side * side {
      let color = (index % side + index / side) % 2 == 0 ? first : second
      for channel in color.indices { bitmap.planes[0].samples[index * color.count + channel] = color[channel] }
    }
    return try PNGEncoder(ThumbnailSpec(width: 1)).encode(bitmap)
  }

  private func center(_ file: [UInt8], _ spec: ThumbnailSpec) throws -> [UInt8] {
    try DecodedPixels(Renderer().render(file, specs: [spec]).thumbnails[0]).at(8, 8)
  }

  private func isNear(_ color: [UInt8], _ expected: [UInt8], by most: Int = 2) -> Bool {
    zip(color, expected).allSatisfy { abs(Int($0) - Int($1)) <= most }
  }

  /// Half the light of white is sRGB 188.
  @Test(arguments: [(ThumbnailSpec.Light.linear, UInt8(188)), (.perceptual, 128)])
  func `The mean of black and white is half the light, or half the number`(
    light: ThumbnailSpec.Light, gray: UInt8
  ) throws {
    let file = try board([0, 0, 0], [255, 255, 255])
    let spec = ThumbnailSpec(width: 16, format: .png, light: light)

    #expect(try isNear(center(file, spec), [gray, gray, gray, 255]))
    #expect(try isNear(center(board([0], [255]), spec), [gray, gray, gray, 255]))
  }

  @Test func `Transparent pixels add no color`() throws {
    let spec = ThumbnailSpec(width: 16, format: .png, light: .linear)

    #expect(try isNear(center(board([200, 40, 90, 255], [255, 255, 255, 0]), spec), [200, 40, 90, 128]))
    #expect(try isNear(center(board([77, 255], [0, 0]), spec), [77, 77, 77, 128]))
  }

  @Test(arguments: [(ThumbnailSpec.Light.linear, UInt8(188)), (.perceptual, 128)])
  func `A background shows through in the same light`(light: ThumbnailSpec.Light, gray: UInt8) throws {
    let file = try board([255, 255, 255, 128], [255, 255, 255, 128])
    for (background, expected) in [(ThumbnailSpec.Color(red: 0, green: 0, blue: 0), gray), (.white, 255)] {
      let spec = ThumbnailSpec(width: 16, format: .jpeg, quality: 100, background: background, light: light)
      #expect(try isNear(center(file, spec), [expected, expected, expected, 255], by: 3))
    }
  }

  @Test(arguments: 1...8)
  func `An oriented JPEG is upright`(orientation: Int) throws {
    let specs = [ThumbnailSpec.Light.linear, .perceptual].map { ThumbnailSpec(width: 24, format: .png, light: $0) }

    let thumbnails = try Renderer().render(Fixtures.image("orientation-\(orientation).jpg"), specs: specs).thumbnails

    let (linear, perceptual) = (try DecodedPixels(thumbnails[0]), try DecodedPixels(thumbnails[1]))
    #expect(linear.size == perceptual.size && linear.meanError(to: perceptual).allSatisfy { $0 <= 6 })
  }
}
