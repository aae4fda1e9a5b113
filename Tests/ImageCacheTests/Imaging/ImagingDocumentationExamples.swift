import Foundation
import ImageCache
import TestSupport
import Testing

/// Runs the examples in the documentation comments, which must be the same code.
@Suite struct `The examples in the documentation` {
  @Test func `The example of Renderer writes one file per spec`() throws {
    let temporary = try TestSupport.TemporaryDirectory()
    let directory = URL(filePath: temporary.path)
    let bytes = SampleImage.jpeg(width: 640, height: 480)

    let renderer = Renderer()
    let specs = [ThumbnailSpec(width: 256), ThumbnailSpec(width: 64, fit: .cover)]
    let rendering = try renderer.render(bytes, specs: specs)
    for thumbnail in rendering.thumbnails {
      let name = "\(thumbnail.spec.label).\(thumbnail.format.fileExtension)"
      try Data(thumbnail.bytes).write(to: directory.appending(path: name))
    }

    #expect(try temporary.files() == ["256x256.jpg", "64x64.jpg"])
    #expect(rendering.thumbnails.map(\.size) == [PixelSize(width: 256, height: 192), PixelSize(width: 64, height: 64)])
  }

  @Test func `The example of ThumbnailSpec has the documented sizes`() {
    let icon = ThumbnailSpec(width: 64, scale: 2, fit: .cover)  // 128 by 128 pixels
    let preview = ThumbnailSpec(width: 640, height: 480, format: .jpeg, quality: 75)

    #expect(icon.pixelBox == PixelSize(width: 128, height: 128))
    #expect([icon.label, preview.label] == ["64x64@2x", "640x480"])
  }

  @Test func `The example of Gravity has a point and the smart crop`() {
    let face = Gravity("62.5%,30%") ?? .center
    let portrait = ThumbnailSpec(width: 256, fit: .cover, gravity: face)
    let guess = ThumbnailSpec(width: 256, fit: .cover, gravity: .smart)

    #expect([portrait.gravity.description, guess.gravity.description] == ["62.5%,30%", "smart"])
  }

  @Test func `The example of Placeholder prints a hash and a color`() throws {
    let bytes = SampleImage.jpeg(width: 640, height: 480)
    var printed: [String] = []
    func print(_ words: String...) { printed += words }

    let specs = [ThumbnailSpec(width: 256), .placeholder]
    let rendering = try Renderer().render(bytes, specs: specs)
    if let placeholder = rendering.thumbnails[1].placeholder {
      print(placeholder.thumbHash.base64, placeholder.color.map { "#\($0)" } ?? "transparent")
    }

    #expect(printed.count == 2 && printed[0].count == 28 && printed[1].count == 7)
  }

  @Test func `The example of PerceptualHash recognizes a copy`() throws {
    let photo = try Fixtures.image("scene.png")
    let copy = try Renderer().render(photo, specs: [ThumbnailSpec(width: 100)]).thumbnails[0].bytes
    var printed: [String] = []
    func print(_ words: String...) { printed += words }

    let renderings = try [photo, copy].map { try Renderer().render($0, specs: [.perceptualHash]) }
    let hashes = renderings.compactMap(\.thumbnails[0].perceptualHash).filter(\.isSignificant)
    if hashes.count == 2, hashes[0].distance(to: hashes[1]) <= 6 { print("The copy shows the same.") }

    #expect(printed.count == 1)
  }

  @Test func `The example of Pixels has a size and rows`() throws {
    let bytes = SampleImage.jpeg(width: 640, height: 480)
    var uploaded: [Int] = []
    func upload(_ bytes: [UInt8], width: Int, height: Int, bytesPerRow: Int) {
      uploaded = [bytes.count, width, height, bytesPerRow]
    }

    let rendering = try Renderer().render(bytes, specs: [ThumbnailSpec(width: 256, format: .rgba)])
    if let pixels = rendering.thumbnails[0].pixels {
      upload(pixels.bytes, width: pixels.size.width, height: pixels.size.height, bytesPerRow: pixels.bytesPerRow)
    }

    #expect(uploaded == [256 * 192 * 4, 256, 192, 1024])
  }

  @Test func `The example of PixelProcess changes one channel`() throws {
    var renderer = Renderer()
    renderer.process = PixelProcess(id: "gray 1") { pixels in
      pixels.change { samples in
        for red in stride(from: 0, to: samples.count, by: 4) { samples[red + 1] = samples[red] }
      }
    }

    let spec = ThumbnailSpec(width: 64, format: .rgba)
    let rendering = try renderer.render(SampleImage.jpeg(width: 640, height: 480), specs: [spec])
    let pixel = try #require(rendering.thumbnails[0].pixels)[3, 3]
    #expect(pixel.x == pixel.y && PixelProcess(id: "gray 1") { _ in } == renderer.process)
  }

  @Test func `The example of an asynchronous rendering reads a photo`() async throws {
    let temporary = try TestSupport.TemporaryDirectory()
    let photo = URL(filePath: temporary.path("photo.jpg"))
    try Data(SampleImage.jpeg(width: 640, height: 480)).write(to: photo)
    let renderer = Renderer()

    let data = try Data(contentsOf: photo)
    let thumbnails = try await renderer.rendering(of: data, specs: [ThumbnailSpec(width: 256)]).thumbnails

    #expect(thumbnails[0].size == PixelSize(width: 256, height: 192))
  }

  @Test func `The example of a cache for files renders once`() async throws {
    let temporary = try TestSupport.TemporaryDirectory()
    let photo = URL(filePath: temporary.path("photo.jpg"))
    try Data(SampleImage.jpeg(width: 640, height: 480)).write(to: photo)
    let cache = ThumbnailCache()

    let changed = try photo.resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate
    let name = "\(photo.path) \(changed ?? .distantPast)"
    let set = try await cache.thumbnails(of: name, specs: [ThumbnailSpec(width: 256)]) {
      try Data(contentsOf: photo)
    }

    #expect(set[0].size == PixelSize(width: 256, height: 192) && cache.memoryUsage.sources == 1)
  }

  @Test func `The example of ThumbHash makes a data URL`() throws {
    func dataURL(_ hash: ThumbHash) throws -> String {
      let file = try hash.png(in: PixelSize(width: 16, height: 12))
      return "data:image/png;base64,\(Data(file).base64EncodedString())"
    }

    let hash = try #require(ThumbHash(base64: "1QcSHQRnh493V4dIh4eXh1h4kJUI"))
    #expect(try dataURL(hash).hasPrefix("data:image/png;base64,iVBORw0KGgo"))
  }
}
