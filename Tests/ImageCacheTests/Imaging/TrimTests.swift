import TestSupport
import Testing

@testable import ImageCache

@Suite(.timeLimit(.minutes(10))) struct `Removing a border` {
  /// An image of 120 by 80 with a gray border around 90 by 60 pixels, whose colors say where they are.
  private static let size = PixelSize(width: 120, height: 80)
  private static let rest = (left: 20, top: 8, size: PixelSize(width: 90, height: 60))

  private static func color(_ x: Int, _ y: Int) -> [UInt8] {
    let (column, row) = (x - rest.left, y - rest.top)
    guard (0..<rest.size.width).contains(column), (0..<rest.size.height).contains(row) else {
      return [128, 128, 128, 255]
    }
    return [UInt8(column), UInt8(row), 250, 255]
  }

  private static func file(_ kind: OrientedImage.Kind = .png, _ orientation: Orientation = .upright) throws -> [UInt8] {
    try OrientedImage.file(kind, orientation, size: size, color: color)
  }

  private static func thumbnail(_ file: [UInt8], _ spec: ThumbnailSpec) throws -> Thumbnail {
    try #require(try Renderer().render(file, specs: [spec]).thumbnails.first)
  }

  @Test func `What is left has the pixels of the image without the border`() throws {
    let thumbnail = try Self.thumbnail(try Self.file(), ThumbnailSpec(width: 300, trim: 10))
    let pixels = try DecodedPixels(thumbnail)

    #expect(thumbnail.size == Self.rest.size)
    for y in 0..<Self.rest.size.height {
      for x in 0..<Self.rest.size.width {
        #expect(pixels.at(x, y) == Self.color(Self.rest.left + x, Self.rest.top + y))
      }
    }
  }

  @Test(arguments: Orientation.allCases, [OrientedImage.Kind.jpeg, .png, .alphaPNG])
  func `The rest of the upright image is fitted`(orientation: Orientation, kind: OrientedImage.Kind) throws {
    let file = try Self.file(kind, orientation)
    let thumbnail = try Self.thumbnail(file, ThumbnailSpec(width: 45, trim: 20))
    let covered = try Self.thumbnail(file, ThumbnailSpec(width: 30, fit: .cover, gravity: .center, trim: 20))
    let (left, right) = (try DecodedPixels(thumbnail).at(2, 15), try DecodedPixels(thumbnail).at(42, 15))

    #expect(thumbnail.size == PixelSize(width: 45, height: 30) && covered.size == PixelSize(width: 30, height: 30))
    #expect(left[0] < 16 && right[0] > 74 && abs(Int(left[1]) - 31) < 8)
    #expect(abs(Int(try DecodedPixels(covered).at(0, 15)[0]) - 16) < 8)
  }

  @Test func `A border within the tolerance is removed, and no other`() throws {
    let file = try OrientedImage.file(.png, .upright, size: Self.size) { x, y in
      var color = Self.color(x, y)
      if color[0] == 128, x > 0 || y > 0 { color[0] += UInt8((x + y) % 9) }
      return color
    }
    let (narrow, wide) = (ThumbnailSpec(width: 300, trim: 7), ThumbnailSpec(width: 300, trim: 8))

    let thumbnails = try Renderer().render(file, specs: [narrow, wide, ThumbnailSpec(width: 300)]).thumbnails

    #expect(thumbnails.map(\.size.width) == [120, 90, 120])
  }

  @Test func `At most half of each side is removed, and an image of one color stays`() throws {
    let spec = ThumbnailSpec(width: 300, trim: 10)
    let dot = try OrientedImage.file(.png, .upright, size: Self.size) { x, y in
      x == 100 && y == 3 ? [0, 0, 0, 255] : [255, 255, 255, 255]
    }
    let plain = try OrientedImage.file(.png, .upright, size: Self.size) { _, _ in [255, 255, 255, 255] }
    let pixels = try DecodedPixels(try Self.thumbnail(dot, spec))

    #expect(pixels.size == PixelSize(width: 60, height: 40))
    #expect(pixels.at(40, 3) == [0, 0, 0, 255])
    #expect(try Self.thumbnail(plain, spec).size == Self.size)
  }

  @Test func `Transparent pixels are a border whatever their color`() throws {
    let file = try OrientedImage.file(.alphaPNG, .upright, size: Self.size) { x, y in
      let color = Self.color(x, y)
      return color[2] == 250 ? color : [UInt8(x), 0, 0, 0]
    }
    #expect(try Self.thumbnail(file, ThumbnailSpec(width: 300, trim: 0)).size == Self.rest.size)
  }

  @Test func `A damaged file fails as without a border`() throws {
    let file = try Self.file(.jpeg)
    for count in [file.count / 2, file.count - 3] {
      let part = Array(file[..<count])
      let usual = Result { () throws(ImageError) in try Renderer().render(part, specs: [ThumbnailSpec(width: 9)]) }
      let trimmed = Result { () throws(ImageError) in
        try Renderer().render(part, specs: [ThumbnailSpec(width: 9, trim: 10)])
      }
      #expect(throws: try #require(usual.failure)) { try trimmed.get() }
    }
  }

  @Test(.disabled(if: Sanitizer.isOn, "The sandbox stops a program with a sanitizer."), .decoderLibraries)
  func `A drawing is drawn so large that what is left fills the thumbnail`() throws {
    let drawing = """
      <svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><rect width="40" height="40" fill="#fff"/>\
      <rect x="10" y="10" width="24" height="24" fill="#036"/></svg>
      """
    // With room for one process, which decodes the image twice.
    var isolation = DecoderIsolation()
    isolation.maxTotalMemory = 1
    let rendering = try Renderer(isolation: isolation).render(
      drawing.utf8, specs: [ThumbnailSpec(width: 240, trim: 10)])
    let thumbnail = rendering.thumbnails[0]
    let pixels = try DecodedPixels(thumbnail)

    #expect(thumbnail.size == PixelSize(width: 240, height: 240))
    #expect(pixels.at(3, 3) == [0, 0x33, 0x66, 255] && pixels.at(236, 236) == [0, 0x33, 0x66, 255])
  }

  /// The columns and rows of the pixels that differ from the first one, by definition.
  @Test(arguments: 0..<50)
  func `A border is what surrounds all pixels that differ from the first one`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let size = PixelSize(width: .random(in: 1...12, using: &generator), height: .random(in: 1...12, using: &generator))
    var samples = Array(repeating: UInt8(9), count: size.area)
    for _ in 0..<Int.random(in: 0...4, using: &generator) {
      samples[.random(in: samples.indices, using: &generator)] = .random(in: 0...18, using: &generator)
    }
    let others = samples.indices.filter { abs(Int(samples[$0]) - Int(samples[0])) > 4 }

    var border = Border(tolerance: 4)
    for y in 0..<size.height { border.take(samples[y * size.width..<(y + 1) * size.width].span, .gray) }

    let box = border.box(in: size)
    let (columns, rows) = (others.map { $0 % size.width }, others.map { $0 / size.width })
    for (values, start, end, length) in [
      (columns, box.left, box.right, size.width), (rows, box.top, box.bottom, size.height),
    ] {
      let range = values.min().flatMap { low in values.max().map { low..<$0 + 1 } } ?? 0..<length
      #expect(Int(end - start) == max(range.count, (length + 1) / 2))
      #expect(Int(start) <= range.lowerBound && Int(end) >= range.upperBound && start >= 0 && Int(end) <= length)
    }
  }
}

extension Result {
  fileprivate var failure: Failure? { if case .failure(let failure) = self { failure } else { nil } }
}
