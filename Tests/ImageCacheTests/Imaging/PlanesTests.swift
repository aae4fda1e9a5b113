import ImageCache
import Testing

/// Compares thumbnails made from luma and chroma planes with thumbnails made from RGB pixels.
@Suite struct `JPEG thumbnails of JPEG files` {
  private func thumbnail(_ name: String, _ spec: ThumbnailSpec) throws -> DecodedPixels {
    try DecodedPixels(Renderer().render(Fixtures.image(name), specs: [spec]).thumbnails[0])
  }

  /// The sizes are odd, so that the last chroma samples cover fewer pixels than the others.
  @Test(
    arguments: (1...8).map { "orientation-\($0).jpg" } + [
      "rgb-420.jpg", "rgb-422.jpg", "rgb-440.jpg", "rgb-411.jpg", "adobe-rgb.jpg",
    ],
    [17, 26, 31])
  func `A thumbnail made from planes looks like one made from pixels`(name: String, width: Int) throws {
    for fit in [ThumbnailSpec.Fit.inside, .cover, .stretch] {
      let ours = try thumbnail(name, ThumbnailSpec(width: width, height: 21, fit: fit, quality: 89))
      let pixels = try thumbnail(name, ThumbnailSpec(width: width, height: 21, fit: fit, format: .png))
      try #require(ours.size == pixels.size)
      // JPEG encoding alone causes this error.
      let inevitable = try DecodedPixels(file: pixels.jpeg(quality: 89)).meanError(to: pixels)
      let error = ours.meanError(to: pixels)
      #expect(
        zip(error, inevitable).allSatisfy { $0 <= $1 + 2 }, "mean error \(error), \(inevitable) of them inevitable")
    }
  }

  @Test func `An sRGB profile changes nothing, and another profile changes the colors`() throws {
    for (name, isSame) in [("srgb-profile.jpg", true), ("adobe-rgb.jpg", false)] {
      let specs = [ThumbnailSpec(width: 48)]

      let whole = try Renderer().render(Fixtures.image(name), specs: specs)
      let bare = try Renderer().render(Fixtures.imageWithoutProfile(name), specs: specs)

      #expect((whole.thumbnails == bare.thumbnails) == isSame, "\(name)")
      #expect(whole.warnings.isEmpty)
    }
  }

  @Test func `Thumbnails have the exact size down to one pixel`() throws {
    for side in [1, 2, 3, 5, 8, 16, 17] {
      for name in ["tall.jpg", "rgb-411.jpg", "large-shrunk.jpg"] {
        let spec = ThumbnailSpec(width: side, fit: .stretch)
        #expect(try thumbnail(name, spec).size == PixelSize(width: side, height: side))
      }
    }
  }

  @Test(arguments: ["large-shrunk.jpg", "large-444.jpg", "large-gray.jpg", "scene.png"])
  func `A thumbnail made from a larger one looks like one made from the decoded image`(name: String) throws {
    let specs = [144, 64, 31].map { ThumbnailSpec(width: $0, format: .png) }

    let together = try Renderer().render(Fixtures.image(name), specs: specs).thumbnails

    for (spec, thumbnail) in zip(specs, together) {
      let alone = try self.thumbnail(name, spec)
      let error = try DecodedPixels(thumbnail).meanError(to: alone)
      #expect(error.allSatisfy { $0 <= 0.75 }, "\(spec.label): \(error)")
    }
  }
}
