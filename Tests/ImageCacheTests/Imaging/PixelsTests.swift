import Foundation
import ImageCache
import TestSupport
import Testing

/// Pixels in place of files, and code that changes them.
@Suite(.timeLimit(.minutes(10))) struct PixelsTests {
  private static let photo = SampleImage.jpeg(width: 64, height: 48)
  private let red = PixelProcess(id: "red") { pixels in
    for y in 0..<pixels.size.height { for x in 0..<pixels.size.width { pixels[x, y] = SIMD4(255, 0, 0, 255) } }
  }

  private func pixels(_ thumbnail: Thumbnail) throws -> Pixels {
    let rendering = try Renderer().render(thumbnail.bytes, specs: [ThumbnailSpec(width: 4096, format: .rgba)])
    return try #require(rendering.thumbnails[0].pixels)
  }

  @Test func `A thumbnail of pixels has four bytes per pixel, and one of a file has no pixels`() throws {
    let specs = [ThumbnailSpec(width: 16, format: .rgba), ThumbnailSpec(width: 16)]
    let thumbnails = try Renderer().render(Self.photo, specs: specs).thumbnails
    let pixels = try #require(thumbnails[0].pixels)

    #expect(pixels.size == PixelSize(width: 16, height: 12) && pixels.bytesPerRow == 64)
    #expect(pixels.bytes.count == 64 * 12 && pixels[15, 11].w == 255 && thumbnails[1].pixels == nil)
    #expect(Pixels(size: PixelSize(width: 2, height: 1), bytes: [1, 2, 3]) == nil)
    #expect(Pixels(size: PixelSize(width: 0, height: 1), bytes: []) == nil)
  }

  @Test(arguments: ThumbnailSpec.Format.allCases.filter { ![.avif, .perceptualHash, .original].contains($0) })
  func `A process changes the pixels of every format`(format: ThumbnailSpec.Format) throws {
    var renderer = Renderer()
    renderer.process = red
    let specs = [ThumbnailSpec(width: 16, format: format), ThumbnailSpec(width: 8, format: format)]
    let thumbnails = try renderer.render(Self.photo, specs: specs).thumbnails

    for thumbnail in thumbnails {
      if let placeholder = thumbnail.placeholder {
        #expect(placeholder.color.map { "\($0)" } == "ff0000")
      } else {
        let pixel = try (thumbnail.pixels ?? pixels(thumbnail))[3, 3]
        #expect(pixel.x > 250 && pixel.y < 5 && pixel.z < 5 && pixel.w == 255)
      }
    }
  }

  @Test func `A process that makes pixels transparent shows the background in a JPEG, and is transparent in a PNG`()
    throws
  {
    var renderer = Renderer()
    renderer.process = PixelProcess(id: "clear") { pixels in
      pixels.change { samples in for index in samples.indices { samples[index] = 0 } }
    }
    let blue = ThumbnailSpec.Color(red: 0, green: 0, blue: 255)
    let specs = [
      ThumbnailSpec(width: 16, format: .jpeg, background: blue), ThumbnailSpec(width: 16, format: .png),
    ]
    let thumbnails = try renderer.render(Self.photo, specs: specs).thumbnails

    #expect(try pixels(thumbnails[0])[5, 5].z > 250)
    #expect(try pixels(thumbnails[1])[5, 5] == SIMD4(0, 0, 0, 0))
  }

  @Test func `A process that throws or changes the size fails the image, not the renderer`() throws {
    struct Refused: Error {}
    var renderer = Renderer()
    renderer.process = PixelProcess(id: "refusing") { _ in throw Refused() }
    let error = #expect(throws: ImageError.self) {
      try renderer.render(Self.photo, specs: [ThumbnailSpec(width: 16)])
    }
    #expect(error?.code == .badSpec && error?.message.contains("refusing") == true && error?.isFinal == false)

    renderer.process = PixelProcess(id: "cropping") { pixels in
      pixels = try #require(Pixels(size: PixelSize(width: 1, height: 1), bytes: [0, 0, 0, 0]))
    }
    #expect(throws: ImageError(.badSpec, "The process \"cropping\" has changed the size of the pixels.")) {
      try renderer.render(Self.photo, specs: [ThumbnailSpec(width: 16)])
    }
    renderer.process = nil
    #expect(try renderer.render(Self.photo, specs: [ThumbnailSpec(width: 16)]).thumbnails.count == 1)
  }

  @Test func `An asynchronous rendering takes any bytes, and gives the same file`() async throws {
    let spec = ThumbnailSpec(width: 16)
    let expected = try Renderer().render(Self.photo, specs: [spec]).thumbnails

    #expect(try await Renderer().rendering(of: Data(Self.photo), specs: [spec]).thumbnails == expected)
    #expect(try await Renderer().rendering(of: Self.photo[...], specs: [spec]).thumbnails == expected)
    #expect(try Renderer().render(Data(Self.photo), specs: [spec]).thumbnails == expected)
    let error = await #expect(throws: ImageError.self) {
      try await Renderer().rendering(of: [1, 2, 3], specs: [spec])
    }
    #expect(error?.code == .notAnImage)
  }

  @Test func `A rendering whose task is canceled before its turn does not begin`() async throws {
    let renderings = await withTaskGroup(of: Bool.self) { group in
      group.cancelAll()
      for _ in 0..<100 {
        group.addTask {
          await #expect(throws: CancellationError.self) {
            try await Renderer().rendering(of: Self.photo, specs: [ThumbnailSpec(width: 16)])
          } != nil
        }
      }
      return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    #expect(renderings == 100)
  }
}
