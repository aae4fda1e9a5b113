#if WebP
  import CImage
  import TestSupport
  import Testing

  @testable import ImageCache

  /// Thumbnails that keep all frames of their source.
  @Suite struct `Animated thumbnails` {
    private typealias Frame = SampleAnimation.Frame
    private static let spec = ThumbnailSpec(width: 100, frames: .all)
    private static let kinds = ["gif", "png", "webp"]

    /// Returns a file of four by two pixels.
    private static func file(_ kind: String, width: Int = 4, height: Int = 2, _ frames: [Frame]) throws -> [UInt8] {
      switch kind {
      case "gif": SampleAnimation.gif(width: width, height: height, frames)
      case "png": SampleAnimation.png(width: width, height: height, frames)
      default: try SampleAnimation.webp(width: width, height: height, frames, chunk: losslessChunk)
      }
    }

    private static func losslessChunk(_ frame: Frame) throws -> [UInt8] {
      let bitmap = try Bitmap(size: PixelSize(width: frame.width, height: frame.height), layout: .rgba)
      bitmap.write { samples in for (index, sample) in frame.samples.enumerated() { samples[index] = sample } }
      let file = try WebPEncoder(ThumbnailSpec(width: 1), isLossless: true).encode(bitmap)
      return Array(file[WebPEncoder.commentOffset...])
    }

    /// Frames of a red, a green and a blue pixel, each of which hides the one before.
    private static func moving(_ count: Int = 3, disposal: Int = 0, delay: Int = 10) -> [Frame] {
      (0..<count).map { Frame(width: 4, height: 2, [$0 % 3], disposal: disposal, delay: delay) }
    }

    private static func indices(_ pixels: DecodedPixels) -> [Int] {
      (0..<pixels.size.area).map { pixel in
        let samples = Array(pixels.samples[4 * pixel..<4 * pixel + 4])
        return samples[3] == 0 ? SampleAnimation.clear : (0..<3).first { SampleAnimation.samples($0) == samples } ?? -1
      }
    }

    private static func render(
      _ file: [UInt8], _ spec: ThumbnailSpec = spec, _ renderer: Renderer = Renderer()
    ) throws -> Thumbnail {
      try renderer.render(file, specs: [spec]).thumbnails[0]
    }

    // MARK: Composition

    /// The disposal that restores what was below has another number in GIF, and none in WebP.
    @Test(arguments: [("gif", 2, 3), ("png", 1, 2), ("webp", 1, 0)])
    func `Frames cover a part of the canvas, which stays, becomes transparent or comes back`(
      kind: String, clearing: Int, restoring: Int
    ) throws {
      let restored = restoring > 0
      let frames = [
        Frame(width: 4, height: 2, [0]),
        Frame(left: 0, width: 2, height: 1, [1, 3], disposal: 0),
        Frame(left: 2, width: 2, height: 2, [2], disposal: restoring),
        Frame(left: 0, width: 2, height: 2, [2, 3, 3, 2], disposal: clearing),
        Frame(left: 2, width: 1, height: 1, [1]),
      ]

      let film = try Film(try Self.render(try Self.file(kind, frames)))

      #expect(Self.indices(film.frames[0]) == [0, 0, 0, 0, 0, 0, 0, 0])
      #expect(Self.indices(film.frames[1]) == [1, 0, 0, 0, 0, 0, 0, 0])
      #expect(Self.indices(film.frames[2]) == [1, 0, 2, 2, 0, 0, 2, 2])
      #expect(Self.indices(film.frames[3]) == (restored ? [2, 0, 0, 0, 0, 2, 0, 0] : [2, 0, 2, 2, 0, 2, 2, 2]))
      #expect(Self.indices(film.frames[4]) == (restored ? [3, 3, 1, 0, 3, 3, 0, 0] : [3, 3, 1, 2, 3, 3, 2, 2]))
    }

    @Test(arguments: ["png", "webp"])
    func `A frame that overwrites makes the canvas transparent where it is`(kind: String) throws {
      let frames = [
        Frame(width: 4, height: 2, [0]), Frame(left: 2, width: 2, height: 1, [3, 1], isOver: false),
        Frame(width: 1, height: 1, [2]),
      ]

      let film = try Film(try Self.render(try Self.file(kind, frames)))

      #expect(Self.indices(film.frames[1]) == [0, 0, 3, 1, 0, 0, 0, 0])
      #expect(Self.indices(film.frames[2]) == [2, 0, 3, 1, 0, 0, 0, 0])
    }

    @Test func `Half transparent pixels are mixed by their alpha`() throws {
      let canvas = try Bitmap(size: PixelSize(width: 3, height: 1), layout: .rgba)
      let frame = try Bitmap(size: PixelSize(width: 3, height: 1), layout: .rgba)
      let (below, above): ([UInt8], [UInt8]) = (
        [200, 100, 0, 255, 200, 100, 0, 100, 0, 0, 0, 0], [0, 100, 255, 51, 0, 100, 255, 51, 9, 8, 7, 6]
      )
      canvas.write { samples in for index in 0..<12 { samples[index] = below[index] } }
      frame.write { samples in for index in 0..<12 { samples[index] = above[index] } }

      cimageCompose(frame, on: canvas)

      // 51 is a fifth of 255. In the second pixel, alpha is 51 + 100 * 0.8 = 131.
      let colors = [160, 100, 51, 255, 122, 100, 99, 131, 9, 8, 7, 6] as [UInt8]
      #expect(DecodedPixels(canvas).samples == colors)
    }

    @Test func `What extends past the canvas is not shown`() throws {
      let frames = [
        Frame(width: 4, height: 2, [0]), Frame(left: 3, top: 1, width: 3, height: 3, [1], disposal: 3),
        Frame(left: 9, top: 9, width: 2, height: 2, [2], disposal: 2), Frame(width: 1, height: 1, [2]),
      ]

      let film = try Film(try Self.render(try Self.file("gif", frames)))

      #expect(Self.indices(film.frames[1]) == [0, 0, 0, 0, 0, 0, 0, 1])
      #expect(Self.indices(try #require(film.frames.last)) == [2, 0, 0, 0, 0, 0, 0, 0])
    }

    // MARK: Times

    @Test(arguments: kinds)
    func `Durations are kept, and frames that are too short last as long as in browsers`(kind: String) throws {
      let frames = zip(Self.moving(5), [7, 0, 1, 2, 300]).map { frame, delay in
        var frame = frame
        frame.delay = delay
        return frame
      }

      #expect(try Film(Self.render(Self.file(kind, frames))).durations == [70, 100, 100, 20, 3000])
    }

    @Test(arguments: [(nil, 1), (0, 0), (1, 2), (4, 5), (65535, 65535)] as [(Int?, Int)])
    func `A GIF without repetitions is shown once`(repetitions: Int?, loops: Int) throws {
      let file = SampleAnimation.gif(width: 4, height: 2, repetitions: repetitions, Self.moving())
      #expect(try Film(Self.render(file)).loops == loops)
    }

    @Test func `The repetitions of PNG and WebP are kept`() throws {
      let png = SampleAnimation.png(width: 4, height: 2, plays: 3, Self.moving())
      let webp = try SampleAnimation.webp(width: 4, height: 2, loops: 3, Self.moving(), chunk: Self.losslessChunk)

      #expect(try Film(Self.render(png)).loops == 3 && Film(Self.render(webp)).loops == 3)
    }

    // MARK: Limits

    @Test(arguments: kinds)
    func `Frames are left out when a limit is reached, with a warning, but are drawn`(kind: String) throws {
      let frames = (0..<4).map { Frame(left: $0 / 2 * 2, width: 1 + $0 % 2, height: 2, [$0 % 3]) }
      var renderer = Renderer()
      renderer.animationLimits.frames = 2
      renderer.failLevel = .warning

      let rendering = try renderer.render(
        try Self.file(kind, [Frame(width: 4, height: 2, [0])] + frames), specs: [Self.spec])
      let film = try Film(rendering.thumbnails[0])

      #expect(rendering.warnings == ["the thumbnail shows 2 of the 5 frames of the animation"])
      #expect(film.durations == [300, 200])
      // The frames 0, 1 and 2 are drawn before the frame 3.
      #expect(Self.indices(film.frames[1]) == [1, 1, 2, 0, 1, 1, 2, 0])
    }

    @Test func `A limit of bytes lowers the quality of all frames`() throws {
      let photos = (0..<3).map { SampleImage.jpeg(width: 64, height: 64, seed: $0) }
      let frames = photos.indices.map { Frame(width: 64, height: 64, [$0]) }
      let file = try SampleAnimation.webp(width: 64, height: 64, frames) { frame in
        let photo = photos[frame.indices[0]]
        let still = try Renderer().render(photo, specs: [ThumbnailSpec(width: 64, format: .webp, quality: 95)])
        let mark = ThumbnailMark.count(in: WebPEncoder.self)
        return Array(still.thumbnails[0].bytes[(WebPEncoder.commentOffset + mark)...])
      }
      var spec = ThumbnailSpec(width: 64, format: .webp, quality: 95, frames: .all)

      let free = try Self.render(file, spec)
      spec.maxBytes = free.bytes.count * 2 / 3
      let limited = try Self.render(file, spec)

      #expect(limited.bytes.count <= free.bytes.count * 2 / 3 && limited.bytes.count > free.bytes.count / 3)
      #expect(limited.size == free.size && limited.spec == spec)
      #expect(try Film(limited).frames.count == 3)
    }

    // MARK: Damage

    @Test(arguments: kinds)
    func `A frame that is corrupt ends the animation with a warning`(kind: String) throws {
      var file = try Self.file(kind, Self.moving(4))
      try Self.damage(&file, kind, frame: 2)

      let rendering = try Renderer().render(file, specs: [Self.spec])

      // The first frame of a PNG file has been decoded to its end, with a warning about the checksum of a chunk.
      #expect(rendering.warnings.count == (kind == "png" ? 2 : 1) && !rendering.isDamaged)
      #expect(rendering.warnings.last?.hasPrefix("the animation ends before a frame that is damaged: ") == true)
      let film = try Film(rendering.thumbnails[0])
      #expect(film.durations == [100, 100] && film.frames.map { Self.indices($0)[0] } == [0, 1])
    }

    @Test(arguments: kinds)
    func `A first frame that is corrupt fails as without the option`(kind: String) throws {
      var file = try Self.file(kind, Self.moving(4))
      try Self.damage(&file, kind, frame: 0)
      let still = #expect(throws: ImageError.self) { try Self.render(file, ThumbnailSpec(width: 100)) }
      let moving = #expect(throws: ImageError.self) { try Self.render(file) }

      #expect(still != nil && moving == still)
    }

    @Test(arguments: kinds)
    func `A file that ends early is truncated, and is shown as far as it goes if that is tolerated`(
      kind: String
    ) throws {
      let file = try Self.file(kind, Self.moving(4)).dropLast(kind == "png" ? 20 : 6)
      var tolerant = Renderer()
      tolerant.failLevel = .none

      let error = #expect(throws: ImageError.self) { try Self.render(Array(file)) }
      let rendering = try tolerant.render(file, specs: [Self.spec])

      #expect(error?.code == .truncated && rendering.isDamaged && !rendering.warnings.isEmpty)
      #expect(try Film(rendering.thumbnails[0]).durations == [100, 100, 100])
    }

    /// Changes the image data of a frame, so that it cannot be decoded.
    private static func damage(_ file: inout [UInt8], _ kind: String, frame: Int) throws {
      let chunk = ["gif": [0x2C], "png": Array((frame == 0 ? "IDAT" : "fdAT").utf8), "webp": Array("VP8L".utf8)]
      let name = try #require(chunk[kind])
      let places = file.indices.filter { file[$0...].starts(with: name) }
      let place = places[kind == "png" && frame > 0 ? frame - 1 : frame]
      // The size of codes; the compressed data; the data after the signature and the size.
      let offset = try #require(["gif": 10, "png": frame == 0 ? 4 : 8, "webp": 13][kind])
      for index in place + offset..<place + offset + (kind == "gif" ? 1 : 4) { file[index] = 0xFF }
    }

    // MARK: Stills

    @Test(arguments: kinds)
    func `A file with one frame gives the same thumbnail as without the option`(kind: String) throws {
      let file = try Self.file(kind, Self.moving(1))

      #expect(try Self.render(file).bytes == Self.render(file, ThumbnailSpec(width: 100)).bytes)
    }

    @Test(arguments: kinds)
    func `Specs with the first frame give the same thumbnails together with animated ones`(kind: String) throws {
      let file = try Self.file(kind, Self.moving())
      let still = ThumbnailSpec(width: 3)

      let both = try Renderer().render(file, specs: [still, Self.spec, ThumbnailSpec(width: 2, frames: .all)])

      #expect(both.thumbnails[0].format == (kind == "webp" ? .webp : .png))
      #expect(both.thumbnails[0] == (try Self.render(file, still)))
      #expect(both.thumbnails.dropFirst().allSatisfy { $0.format == .webp && $0.isWhole })
      #expect(both.thumbnails[1].bytes == (try Self.render(file)).bytes)
      #expect(both.thumbnails.map(\.size.width) == [3, 4, 2])
    }

    @Test func `A PNG whose first image is no frame shows that only as a still`() throws {
      let file = SampleAnimation.png(width: 4, height: 2, hasStill: true, Self.moving())

      #expect(Self.indices(try DecodedPixels(try Self.render(file, ThumbnailSpec(width: 4))))[0] == 3)
      #expect(try Film(Self.render(file)).frames.map { Self.indices($0)[0] } == [0, 1, 2])
    }

    // MARK: Specs

    @Test(arguments: [ThumbnailSpec.Format.jpeg, .png, .avif, .rgba, .placeholder])
    func `Formats without animations are refused`(format: ThumbnailSpec.Format) {
      let error = #expect(throws: ImageError.self) {
        try Renderer().check([ThumbnailSpec(width: 16, format: format, frames: .all)])
      }
      #expect(error?.code == .badSpec && error?.message.contains(format.rawValue) == true)
    }

    @Test func `Crops that are chosen from the pixels are the same in all frames`() throws {
      // Detail at the left in the first frame, at the right in the others.
      let frames = [0, 1, 2].map { number in
        let places = number == 0 ? 0..<12 : 36..<48
        let indices = (0..<48 * 24).map { pixel in
          places.contains(pixel % 48) ? (pixel + pixel / 48) % 2 : 2
        }
        return Frame(width: 48, height: 24, indices)
      }
      let spec = ThumbnailSpec(width: 24, fit: .cover, gravity: .smart, frames: .all)

      let film = try Film(Self.render(Self.file("gif", width: 48, height: 24, frames), spec))

      #expect(Self.indices(film.frames[0]).contains(0))
      // Equal frames become one.
      #expect(film.frames.dropFirst().map { Set(Self.indices($0)) } == [[2]] && film.durations == [100, 200])
    }

    @Test func `A process changes every frame`() throws {
      var renderer = Renderer()
      renderer.process = PixelProcess(id: "swap") { pixels in
        for x in 0..<pixels.size.width {
          for y in 0..<pixels.size.height {
            let pixel = pixels[x, y]
            pixels[x, y] = SIMD4(pixel[1], pixel[0], pixel[2], pixel[3])
          }
        }
      }

      let film = try Film(Self.render(Self.file("gif", Self.moving()), Self.spec, renderer))

      #expect(film.frames.map { Self.indices($0)[0] } == [1, 0, 2])
    }
  }

  /// Draws a frame over a canvas of the same size.
  private func cimageCompose(_ frame: borrowing Bitmap, on canvas: borrowing Bitmap) {
    cimage_compose(frame.planes[0].view, canvas.planes[0].view, 1)
  }
#endif
