#if WebP
  import CImage
  import CWebP
  import TestSupport
  import Testing

  @testable import ImageCache

  @Suite struct `WebP thumbnails` {
    private static let photos = ["large-444.jpg", "rgb-420.jpg", "scene.png"]

    private func thumbnail(
      _ source: [UInt8], _ format: ThumbnailSpec.Format = .webp, width: Int = 96, quality: Int = 82
    ) throws -> Thumbnail {
      let spec = ThumbnailSpec(width: width, format: format, quality: quality)
      return try Renderer().render(source, specs: [spec]).thumbnails[0]
    }

    /// Decodes a whole file with libwebp's simplest function.
    private func decoded(_ thumbnail: Thumbnail) throws -> DecodedPixels {
      var width: Int32 = 0, height: Int32 = 0
      let pixels = try #require(WebPDecodeRGBA(thumbnail.bytes, thumbnail.bytes.count, &width, &height))
      defer { WebPFree(pixels) }
      let bitmap = try Bitmap(size: PixelSize(width: Int(width), height: Int(height)), layout: .rgba)
      bitmap.planes[0].samples.update(from: pixels, count: Int(width * height) * 4)
      return DecodedPixels(bitmap)
    }

    /// Returns the types of the chunks of a file. Requires that their sizes fill it.
    private func chunks(_ bytes: [UInt8]) throws -> [String] {
      try #require(bytes.span.uint32(at: 4, .little) == bytes.count - 8 && bytes.count % 2 == 0)
      var types: [String] = []
      var offset = 12
      while let count = bytes.span.uint32(at: offset + 4, .little) {
        types.append(String(decoding: bytes[offset..<offset + 4], as: UTF8.self))
        offset += 8 + count + count % 2
      }
      try #require(offset == bytes.count)
      return types
    }

    /// Returns a bitmap whose pixels are computed from their position.
    private func bitmap(
      _ width: Int, _ height: Int, _ layout: PixelLayout = .rgb, _ sample: (Int, Int, Int) -> Int
    ) throws -> Bitmap {
      let bitmap = try Bitmap(size: PixelSize(width: width, height: height), layout: layout)
      let channels = layout.channels
      for index in 0..<width * height * channels {
        let pixel = index / channels
        let value = sample(pixel % width, pixel / width, index % channels)
        bitmap.planes[0].samples[index] = UInt8(truncatingIfNeeded: value)
      }
      return bitmap
    }

    private func file(_ bitmap: borrowing Bitmap, _ format: ThumbnailSpec.Format = .webp) throws -> EncodedFile {
      let spec = ThumbnailSpec(width: 1, format: format)
      return try format == .smallest ? SmallestEncoder(spec).file(of: bitmap) : WebPEncoder(spec).file(of: bitmap)
    }

    @Test(arguments: photos)
    func `A photo is lossy, close to its pixels, and smaller than a JPEG of the same quality`(name: String) throws {
      let source = try Fixtures.image(name)

      let webp = try thumbnail(source)

      let exact = try DecodedPixels(thumbnail(source, .png)), jpeg = try thumbnail(source, .jpeg)
      let (ours, theirs) = (try decoded(webp), try DecodedPixels(jpeg))
      #expect(webp.format == .webp && ours.size == exact.size)
      #expect(try chunks(webp.bytes) == ["VP8X", "NOTE", "VP8 "])
      #expect(ours.peakSignal(to: exact) >= max(30, theirs.peakSignal(to: exact) - 1.5))
      #expect(webp.bytes.count < jpeg.bytes.count)
    }

    @Test func `A higher quality gives a larger file that is closer to the image`() throws {
      let source = try Fixtures.image("large-444.jpg")
      let exact = try DecodedPixels(thumbnail(source, .png))

      let files = try [1, 30, 60, 82, 90, 100].map { try thumbnail(source, quality: $0) }

      let signals = try files.map { try decoded($0).peakSignal(to: exact) }
      #expect(zip(files, files.dropFirst()).allSatisfy { $0.bytes.count < $1.bytes.count })
      #expect(zip(signals, signals.dropFirst()).allSatisfy { $0 < $1 }, "\(signals)")
    }

    @Test func `The quality of libwebp rises with that of JPEG from 0 to 100`() {
      let factors = (1...100).map { WebPQuality.factor(for: $0) }

      #expect(zip(factors, factors.dropFirst()).allSatisfy { $0 < $1 })
      #expect(factors[0] == 0 && factors[81] == 84 && factors[99] == 100)
    }

    @Test(arguments: [PixelLayout.gray, .grayAlpha, .rgb, .rgba], [(1, 1), (7, 5), (64, 48), (16383, 1), (1, 300)])
    func `A drawing is lossless`(layout: PixelLayout, size: (width: Int, height: Int)) throws {
      let drawing = try bitmap(size.width, size.height, layout) { x, y, channel in
        (x / 3 + y / 5) % 15 * 16 + (channel == layout.channels - 1 && layout.hasAlpha ? 15 : channel * 4)
      }

      let webp = Thumbnail(
        spec: ThumbnailSpec(width: 1), size: drawing.size, format: .webp, bytes: try file(drawing).bytes)

      #expect(try decoded(webp) == DecodedPixels(drawing))
      #expect(try chunks(webp.bytes) == ["VP8X", "NOTE", "VP8L"])
      #expect(try DecodedPixels(webp) == DecodedPixels(drawing))
    }

    @Test func `A gray photo is lossy and stays gray`() throws {
      let source = try Fixtures.image("large-gray.jpg")

      let webp = try thumbnail(source), ours = try decoded(webp)

      #expect(try chunks(webp.bytes) == ["VP8X", "NOTE", "VP8 "])
      #expect(ours.peakSignal(to: try DecodedPixels(thumbnail(source, .png))) >= 30)
      for pixel in 0..<ours.size.area {
        let samples = ours.samples[pixel * 4..<pixel * 4 + 3]
        try #require((samples.max() ?? 0) - (samples.min() ?? 0) <= 2)
      }
    }

    @Test func `A cutout keeps its alpha exactly, and is lossy only if that makes the file smaller`() throws {
      let noise = SeededGenerator(seed: 5)
      for isNoisy in [true, false] {
        var random = noise
        // Lossless files are small for gradients and large for noise.
        let cutout = try bitmap(96, 64, .rgba) { x, y, channel in
          channel == 3 ? min(255, x * 3) : isNoisy ? Int.random(in: 0...255, using: &random) : x + 100 * (y / 16)
        }
        let webp = Thumbnail(
          spec: ThumbnailSpec(width: 1), size: cutout.size, format: .webp, bytes: try file(cutout).bytes)
        let lossless = try WebPEncoder(webp.spec, isLossless: true).file(of: cutout)

        let ours = try decoded(webp), exact = DecodedPixels(cutout)
        #expect(try chunks(webp.bytes) == (isNoisy ? ["VP8X", "NOTE", "ALPH", "VP8 "] : ["VP8X", "NOTE", "VP8L"]))
        #expect(webp.bytes.count < lossless.bytes.count || !isNoisy)
        for pixel in 0..<ours.size.area { try #require(ours.samples[pixel * 4 + 3] == exact.samples[pixel * 4 + 3]) }
        #expect(isNoisy || ours.peakSignal(to: exact) == 99)
      }
    }

    @Test func `An opaque image with an alpha channel is a photo`() throws {
      let photo = try bitmap(64, 64, .rgba) { x, y, channel in channel == 3 ? 255 : (x * 4 + channel * y * 3) % 256 }

      #expect(try chunks(file(photo).bytes) == ["VP8X", "NOTE", "VP8 "])
      #expect(photo.content == .photo)
      #expect(try ["jpeg", "webp"].contains(file(photo, .smallest).format.rawValue))
    }

    @Test(arguments: [
      (PixelLayout.gray, 16, CImageContent.drawing), (.gray, 17, .photo), (.rgb, 256, .drawing), (.rgb, 257, .photo),
      (.grayAlpha, 256, .drawing), (.rgba, 257, .cutout),
    ])
    func `The number of colors distinguishes drawings from photos`(
      layout: PixelLayout, colors: Int, expected: CImageContent
    ) throws {
      let image = try bitmap(300, 2, layout) { x, _, channel in
        let color = x % colors
        if layout == .grayAlpha { return channel == 0 ? 0 : color }
        return channel == 0 ? color : channel == 1 ? color / 256 : channel == 3 ? 128 : 3
      }

      #expect(image.content == expected)
    }

    @Test(arguments: photos + ["large-gray.jpg", "rgba.png", "palette.png", "gray-1bit.png", "gray-trns.png"])
    func `The smallest file is the smaller one of WebP and JPEG or PNG`(name: String) throws {
      for width in [4, 24, 200] {
        let source = try Fixtures.image(name)
        let files = try [ThumbnailSpec.Format.jpeg, .png, .webp].map { try thumbnail(source, $0, width: width) }
        let webp = files[2]
        let isPhoto = try DecodedPixels(files[1]).content == .photo

        let smallest = try thumbnail(source, .smallest, width: width)

        let other = isPhoto ? OutputFormat.jpeg : .png
        #expect([other, .webp].contains(smallest.format))
        #expect(smallest.bytes.count <= webp.bytes.count)
        if smallest.format == .webp { #expect(smallest.bytes == webp.bytes) }
        if smallest.format == .png { #expect(smallest.bytes == files[1].bytes) }
        if !isPhoto { #expect(smallest.bytes.count == min(files[1].bytes.count, webp.bytes.count)) }
      }
    }

    @Test func `Each format can be the smallest`() throws {
      var random = SeededGenerator(seed: 3)
      let noise = try bitmap(64, 64) { _, _, _ in Int.random(in: 0...255, using: &random) }
      let weave = try bitmap(96, 96) { x, y, channel in (x ^ y) * (channel + 1) }
      let waves = try bitmap(96, 96) { x, y, channel in x * (channel + 1) + y / 2 }
      let stripes = try bitmap(96, 96) { x, _, _ in x * 2 }

      #expect(try file(noise, .smallest).format == .jpeg && file(weave, .smallest).format == .png)
      #expect(try file(waves, .smallest).format == .webp && file(stripes, .smallest).format == .webp)
    }

    @Test func `Automatic output of WebP files is WebP, and lossless for lossless files`() throws {
      let lossy = try thumbnail(Fixtures.webp("lossy"), .auto)
      let lossless = try thumbnail(Fixtures.webp("lossless"), .auto)

      #expect(try chunks(lossy.bytes).last == "VP8 " && chunks(lossless.bytes).last == "VP8L")
      #expect(try decoded(lossless) == DecodedPixels(thumbnail(Fixtures.webp("lossless"), .png)))
    }

    @Test(arguments: [ThumbnailSpec.Format.webp, .smallest])
    func `The same image gives the same file, alone and with other sizes`(format: ThumbnailSpec.Format) throws {
      let source = try Fixtures.image("large-shrunk.jpg")
      let specs = [ThumbnailSpec(width: 90, format: format), ThumbnailSpec(width: 85, format: format)]

      let files = try (0..<3).map { _ in try Renderer().render(source, specs: specs).thumbnails }

      #expect(files[0] == files[1] && files[1] == files[2])
      #expect(try Renderer().render(source, specs: [specs[0]]).thumbnails[0] == files[0][0])
    }

    @Test func `A padded thumbnail is transparent around the image`() throws {
      let spec = ThumbnailSpec(width: 64, fit: .pad, format: .webp)

      let webp = try Renderer().render(SampleImage.jpeg(width: 96, height: 48), specs: [spec]).thumbnails[0]

      let pixels = try decoded(webp)
      #expect(pixels.at(32, 2)[3] == 0 && pixels.at(32, 32)[3] == 255)
    }

    @Test func `A side that is too long for WebP is an error of the spec`() throws {
      let source = try Fixtures.webp("lossy-1x1")
      let spec = ThumbnailSpec(width: 16384, height: 1, fit: .pad)

      let error = #expect(throws: ImageError.self) { try Renderer().render(source, specs: [spec]) }

      #expect(error?.code == .badSpec && error?.message.contains("16383") == true)
    }

    @Test func `A buffer that is too small is an error, and nothing is written behind it`() throws {
      var random = SeededGenerator(seed: 4)
      let photo = try bitmap(64, 64) { _, _, _ in Int.random(in: 0...255, using: &random) }
      for isLossless in [Int32(0), 1] {
        for capacity in [18, 60, 200] {
          var (buffer, count, messages) = ([UInt8](repeating: 0xAA, count: 4096), 0, CImageMessages())
          let options = CImageWebPEncoding(quality: 80, isLossless: isLossless)

          let status = cimage_webp_encode(photo.planes[0].view, options, &buffer, capacity, &count, &messages)

          #expect(status == .limit && count == 0 && buffer[capacity...].allSatisfy { $0 == 0xAA })
        }
      }
    }

    @Test func `The budget of a WebP thumbnail includes the memory of its encoder`() throws {
      let jpeg = JPEGDecoder(
        JPEGHeader(image: ImageHeader(format: .jpeg, storedSize: PixelSize(width: 100, height: 80), layout: .rgb)))
      let budgets = [ThumbnailSpec.Format.jpeg, .webp, .smallest].map { format in
        let specs = [ThumbnailSpec(width: 50, format: format), ThumbnailSpec(width: 40, format: format)]
        return RenderPlan(jpeg, specs: specs).peakBytes(jpeg)
      }

      #expect(budgets[1] - budgets[0] == (1 << 20) + 50 * 40 * 100 && budgets[1] == budgets[2])
    }
  }

  extension DecodedPixels {
    /// The kind of the image.
    fileprivate var content: CImageContent {
      get throws {
        let bitmap = try Bitmap(size: size, layout: .rgba)
        bitmap.planes[0].samples.update(from: samples, count: samples.count)
        return bitmap.content
      }
    }
  }
#endif
