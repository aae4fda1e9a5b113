import TestSupport
import Testing

@testable import ImageCache

@Suite struct `The check of a spec` {
  static let bad: [ThumbnailSpec] = [
    ThumbnailSpec(width: 0), ThumbnailSpec(width: -1), ThumbnailSpec(width: 64, height: 0),
    ThumbnailSpec(width: 64, height: .min), ThumbnailSpec(width: 16385), ThumbnailSpec(width: 1, height: 16385),
    ThumbnailSpec(width: .max), ThumbnailSpec(width: .max, scale: 2), ThumbnailSpec(width: .max, scale: .max),
    ThumbnailSpec(width: .min, scale: .max), ThumbnailSpec(width: 8193, scale: 2), ThumbnailSpec(width: 64, scale: 0),
    ThumbnailSpec(width: 64, scale: -1), ThumbnailSpec(width: 64, scale: 9), ThumbnailSpec(width: 64, scale: .max),
    ThumbnailSpec(width: 64, quality: 0), ThumbnailSpec(width: 64, quality: 101),
    ThumbnailSpec(width: 64, quality: .min),
    ThumbnailSpec(width: 1_000_000, fit: .pad), ThumbnailSpec(width: 16384, fit: .pad),
    ThumbnailSpec(width: 8192, height: 8193, fit: .pad),
    ThumbnailSpec(width: 16384, fit: .stretch, enlargement: .allowed),
    ThumbnailSpec(width: 16384, enlargement: .allowed), ThumbnailSpec(width: 8200, fit: .cover, enlargement: .allowed),
  ]

  @Test(arguments: bad)
  func `A spec out of range is an error and allocates little memory`(spec: ThumbnailSpec) throws {
    let before = MemoryPeak.ofProcess()

    for image in [SampleImage.jpeg(width: 40, height: 30), SampleImage.png(width: 40, height: 30), []] {
      let error = #expect(throws: ImageError.self) {
        try Renderer().render(image, specs: [ThumbnailSpec(width: 8), spec])
      }
      #expect(error?.code == .badSpec)
    }

    #expect(MemoryPeak.ofProcess() - before < 200 << 20)
  }

  /// These properties may be computed before a spec is checked.
  @Test(arguments: bad)
  func `The properties of a spec out of range do not trap`(spec: ThumbnailSpec) {
    for source in [
      PixelSize(width: 1, height: 1), PixelSize(width: .max, height: .max), PixelSize(width: -1, height: 9),
    ] {
      let geometry = FittedGeometry(source: source, spec: spec)
      #expect(geometry.content.width >= 1 && geometry.canvas.area >= 1)
    }

    #expect(!spec.label.isEmpty && !spec.fingerprint.isEmpty)
    _ = (spec.pixelBox.area, spec.box.area, spec.hashValue)
  }

  @Test(arguments: [
    ThumbnailSpec(width: 16384), ThumbnailSpec(width: 1, height: 16384), ThumbnailSpec(width: 2048, scale: 8),
    ThumbnailSpec(width: 16384, fit: .stretch), ThumbnailSpec(width: 8192, fit: .pad), ThumbnailSpec(width: 1),
    ThumbnailSpec(width: 4096, height: 16384, fit: .stretch, enlargement: .allowed),
    ThumbnailSpec(width: 9, quality: 1),
    ThumbnailSpec(width: 9, quality: 100),
  ])
  func `A spec at the edge of its range is accepted`(spec: ThumbnailSpec) throws { try Renderer().check([spec]) }

  @Test(arguments: [ThumbnailSpec.Format.webp, .smallest])
  func `Formats that need WebP are limited in size, and without its package trait the message names it`(
    format: ThumbnailSpec.Format
  ) throws {
    func error(_ width: Int) -> ImageError? {
      do throws(ImageError) {
        try Renderer().check([ThumbnailSpec(width: width, height: 1, format: format)])
        return nil
      } catch {
        return error
      }
    }
    #if WebP
      #expect(error(16383) == nil)
      #expect(error(16384)?.code == .badSpec && error(16384)?.message.contains("16383") == true)
    #else
      #expect(error(1)?.code == .badSpec && error(1)?.message.contains("package trait WebP") == true)
      #expect(error(1)?.message.contains(format.rawValue) == true)
    #endif
  }

  #if !WebP
    @Test func `Animated thumbnails need the package trait`() {
      let error = #expect(throws: ImageError.self) { try Renderer().check([ThumbnailSpec(width: 1, frames: .all)]) }
      #expect(error?.code == .badSpec && error?.message.contains("package trait WebP") == true)
    }
  #endif

  @Test func `Animated GIF thumbnails need no package trait`() throws {
    try Renderer().check([ThumbnailSpec(width: 1, format: .gif, frames: .all)])
  }

  @Test func `AVIF thumbnails that would be larger than their source are limited to 16 megapixels`() throws {
    let padded = ThumbnailSpec(width: 4096, height: 4097, fit: .pad, format: .avif)

    let error = #expect(throws: ImageError.self) { try padded.check(maxOutputPixels: .max) }
    #expect(error?.code == .badSpec && error?.message.contains("16777216") == true)
    try ThumbnailSpec(width: 4096, fit: .pad, format: .avif).check(maxOutputPixels: .max)
    try ThumbnailSpec(width: 16384, format: .avif).check(maxOutputPixels: .max)
  }

  @Test func `The renderer limits the pixels of padded output`() throws {
    var renderer = Renderer()
    renderer.maxOutputPixels = 10_000
    let image = SampleImage.png(width: 300, height: 200)
    let padded = [100, 101].map { ThumbnailSpec(width: $0, fit: .pad) }

    #expect(try renderer.render(image, specs: [padded[0]]).thumbnails[0].size == PixelSize(width: 100, height: 100))
    #expect(throws: ImageError.self) { try renderer.render(image, specs: padded) }
    // Not larger than its source, which has a separate limit.
    #expect(try renderer.render(image, specs: [ThumbnailSpec(width: 250)]).thumbnails.count == 1)
  }

  @Test(arguments: [
    (ImageError(.badSpec, ""), false), (ImageError(.truncated, ""), false), (ImageError(.notAnImage, ""), true),
    (ImageError(.unsupportedFormat, ""), true), (ImageError(.unsupportedFormat, "", origin: .machine), false),
  ])
  func `A failure is final if it is one of the file alone`(error: ImageError, isFinal: Bool) {
    #expect(error.isFinal == isFinal)
  }
}
