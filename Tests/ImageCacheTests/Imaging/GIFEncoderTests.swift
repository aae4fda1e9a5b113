import TestSupport
import Testing

@testable import ImageCache

/// Thumbnails in GIF, read by the decoder of sources.
@Suite struct `The GIF encoder` {
  private static let clear: [UInt8] = [0, 0, 0, 0]

  /// Returns color number `index`, each of which is another one.
  private static func color(_ index: Int) -> [UInt8] {
    let (low, high) = (UInt8(index % 256), UInt8(index / 256))
    return [low &* 37, high, 255 - low, 255]
  }

  /// Returns pixels of `count` colors in the order of their numbers, again and again; some are transparent if one of
  /// the colors is.
  private static func pixels(_ size: PixelSize, colors count: Int, isTransparent: Bool = false) -> [[UInt8]] {
    (0..<size.area).map { $0 % count == 0 && isTransparent ? clear : color($0 % count) }
  }

  private static func bitmap(_ size: PixelSize, _ pixels: [[UInt8]]) throws -> Bitmap {
    let layouts: [PixelLayout] = [.gray, .grayAlpha, .rgb, .rgba]
    let bitmap = try Bitmap(size: size, layout: layouts[pixels[0].count - 1])
    bitmap.write { samples in for (index, sample) in pixels.joined().enumerated() { samples[index] = sample } }
    return bitmap
  }

  private static func still(_ size: PixelSize, _ pixels: [[UInt8]]) throws -> [UInt8] {
    try GIFEncoder(ThumbnailSpec(width: 1)).encode(try bitmap(size, pixels))
  }

  /// Returns an animation of frames that appear at `starts`, of which the last one is its end.
  private static func animation(
    _ size: PixelSize, _ frames: [[[UInt8]]], starts: [Int]? = nil, loops: Int = 0
  ) throws -> [UInt8] {
    let file = try GIFFile(size: size, loops: loops)
    let starts = starts ?? (0...frames.count).map { 100 * $0 }
    for (frame, start) in zip(frames, starts) { try file.add(try bitmap(size, frame), at: start) }
    return try file.finish(at: starts[frames.count])
  }

  // MARK: Colors

  @Test(arguments: [1, 2, 3, 4, 5, 8, 9, 16, 17, 32, 33, 64, 65, 128, 129, 255, 256], [false, true])
  func `A thumbnail with at most 256 colors has no losses, and the smallest palette`(
    count: Int, isTransparent: Bool
  ) throws {
    let size = PixelSize(width: 23, height: 29)
    let pixels = Self.pixels(size, colors: count, isTransparent: isTransparent)
    let file = try Self.still(size, pixels)

    // A graphic control extension of 8 bytes says which color is transparent.
    let bits = (1...8).first { 1 << $0 >= count } ?? 8
    let descriptor = isTransparent ? 21 : 13
    #expect(file[descriptor] == 0x2C && file[descriptor + 9] == UInt8(0x7F + bits))
    #expect(file[descriptor + 10 + 3 << bits] == UInt8(max(2, bits)))
    #expect(try DecodedPixels(file: file).samples == Array(pixels.joined()))
  }

  @Test func `Data that fills the table of codes many times has no losses`() throws {
    let size = PixelSize(width: 301, height: 211)
    var state: UInt32 = 1
    let pixels = (0..<size.area).map { _ in
      state = state &* 1_664_525 &+ 1_013_904_223
      return Self.color(Int(state >> 24))
    }

    #expect(try DecodedPixels(file: Self.still(size, pixels)).samples == Array(pixels.joined()))
  }

  @Test(arguments: [(257, 2.0), (5000, 4.0)])
  func `Of more than 256 colors, those with the least error are chosen, and mixed`(count: Int, bound: Double) throws {
    let size = PixelSize(width: 80, height: 80)
    let pixels = (0..<size.area).map { index -> [UInt8] in
      let number = index * count / size.area
      let red = number * 255 / count
      return [UInt8(red), UInt8(number % 256 / 2), UInt8(number / 256 * 8), 255]
    }
    let decoded = try DecodedPixels(file: Self.still(size, pixels))
    let colors = Set((0..<size.area).map { decoded.at($0 % 80, $0 / 80) })

    #expect(colors.count <= 256 && colors.count > 200 && colors.allSatisfy { $0[3] == 255 })
    for (channel, error) in decoded.meanError(to: DecodedPixels(try Self.bitmap(size, pixels))).enumerated() {
      #expect(error < bound, "channel \(channel)")
    }
    for channel in 0..<3 {
      let expected = pixels.reduce(0) { $0 + Int($1[channel]) }
      let sum = pixels.indices.reduce(0) { $0 + Int(decoded.samples[4 * $1 + channel]) }
      #expect(abs(sum - expected) < size.area / 2, "channel \(channel)")
    }
  }

  @Test func `Pixels are transparent if their alpha is less than 128, and opaque otherwise`() throws {
    let size = PixelSize(width: 5, height: 1)
    let alphas: [UInt8] = [0, 127, 128, 254, 255]

    let color = try DecodedPixels(file: Self.still(size, alphas.map { [10, 20, 30, $0] }))
    let gray = try DecodedPixels(file: Self.still(size, alphas.map { [40, $0] }))

    for x in 0..<5 {
      #expect(color.at(x, 0) == (x < 2 ? Self.clear : [10, 20, 30, 255]))
      #expect(gray.at(x, 0) == (x < 2 ? Self.clear : [40, 40, 40, 255]))
    }
  }

  @Test func `Gray thumbnails have no losses`() throws {
    let size = PixelSize(width: 16, height: 16)
    let decoded = try DecodedPixels(file: Self.still(size, (0..<256).map { [UInt8($0)] }))

    for level in UInt8.min...UInt8.max {
      #expect(decoded.at(Int(level % 16), Int(level / 16)) == [level, level, level, 255])
    }
  }

  // MARK: Frames

  @Test(arguments: 0..<40)
  func `Frames of few colors have no losses, whatever becomes transparent or comes back`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let size = PixelSize(width: Int.random(in: 1...40, using: &random), height: Int.random(in: 1...30, using: &random))
    let count = Int.random(in: 2...250, using: &random)
    let colors = [Self.clear] + (1..<count).map(Self.color)
    var frames: [[[UInt8]]] = []
    var frame = (0..<size.area).map { _ in colors.randomElement(using: &random) ?? Self.clear }
    for _ in 0..<6 {
      frames.append(frame)
      let left = Int.random(in: 0..<size.width, using: &random)
      let top = Int.random(in: 0..<size.height, using: &random)
      let filler = colors.randomElement(using: &random)
      let isNoise = Bool.random(using: &random)
      for index in frame.indices where index % size.width >= left && index / size.width >= top {
        frame[index] = (isNoise ? colors.randomElement(using: &random) : filler) ?? Self.clear
      }
      // So that no frame equals the one before.
      frame[0] = frame[0] == colors[1] ? Self.clear : colors[1]
    }

    let film = try Film(Self.animation(size, frames))

    #expect(film.frames.map(\.samples) == frames.map { Array($0.joined()) })
    #expect(film.durations == Array(repeating: 100, count: 6))
  }

  @Test func `A frame has only the part that differs from the one before`() throws {
    let size = PixelSize(width: 8, height: 6)
    var frames = [Self.pixels(size, colors: 3)]
    for (number, index) in [11, 28].enumerated() {
      frames.append(frames[number])
      frames[number + 1][index] = [9, 9, 9, 255]
    }
    frames[2][12] = [8, 8, 8, 255]

    let film = try Film(Self.animation(size, frames))

    #expect(film.areas[0] == AnimationArea(size: size))
    #expect(film.areas[1] == AnimationArea(left: 3, top: 1, size: PixelSize(width: 1, height: 1)))
    #expect(film.areas[2] == AnimationArea(left: 4, top: 1, size: PixelSize(width: 1, height: 3)))
    #expect(film.frames.map(\.samples) == frames.map { Array($0.joined()) })
  }

  @Test func `A frame of 256 colors has no losses, although a part of it stays`() throws {
    let size = PixelSize(width: 257, height: 1)
    let before = (0..<257).map { Self.color($0 == 256 ? 300 : 100) }
    let after = (0..<257).map { Self.color($0 == 256 ? 100 : $0) }

    let film = try Film(Self.animation(size, [before, after]))

    #expect(film.frames.map(\.samples) == [Array(before.joined()), Array(after.joined())])
  }

  @Test func `What does not change keeps its mixed colors in the frames of a photo`() throws {
    let size = PixelSize(width: 40, height: 40)
    let photo = (0..<1600).map { index -> [UInt8] in
      let (x, y) = (index % 40, index / 40)
      return [UInt8(6 * x), UInt8(6 * y), UInt8(7 * index % 256), 255]
    }
    var changed = photo
    for index in 0..<80 { changed[index][0] = 255 - photo[index][0] }

    let film = try Film(Self.animation(size, [photo, changed]))

    #expect(film.frames[0].samples[320...] == film.frames[1].samples[320...])
    #expect(film.frames[0].samples[..<320] != film.frames[1].samples[..<320] && film.areas[1].size.height == 2)
  }

  @Test func `Equal frames become one, and if all are equal, the file is a still image`() throws {
    let size = PixelSize(width: 4, height: 3)
    let (red, blue) = (Self.pixels(size, colors: 1), Self.pixels(size, colors: 2))

    let film = try Film(Self.animation(size, [red, red, blue, blue, red]))

    #expect(film.durations == [200, 200, 100])
    #expect(try Self.animation(size, [red, red, red]) == Self.still(size, red))
  }

  // MARK: Times

  @Test(arguments: [(0, 0), (1, 1), (2, 2), (5, 5), (65536, 65536), (.max, 65536)])
  func `An animation is shown as often as its source`(loops: Int, expected: Int) throws {
    let size = PixelSize(width: 2, height: 2)
    let file = try Self.animation(size, [1, 2, 3].map { Self.pixels(size, colors: $0) }, loops: loops)

    #expect(try Film(file).loops == expected)
    // The extension has the number of repetitions, which are one less.
    let name = Array("NETSCAPE2.0".utf8)
    let place = file.indices.first { file[$0...].starts(with: name) }
    #expect((place == nil) == (loops == 1))
    if let place {
      let count = Int(file[place + 13]) + Int(file[place + 14]) << 8
      #expect(count == max(0, expected - 1))
    }
  }

  @Test(arguments: [
    ([0, 33, 67, 100], [30, 40, 30]), ([0, 4, 100], [100]), ([0, 15, 100], [20, 80]),
    ([0, 20, 25, 100], [20, 20, 60]),
    ([0, 100, 101], [100, 20]), ([0, 700_000, 700_100], [655_350, 100]),
  ])
  func `Times are rounded to hundredths of a second without drift, and are at least two of them`(
    starts: [Int], durations: [Int]
  ) throws {
    let size = PixelSize(width: 3, height: 1)
    let frames = (1..<starts.count).map { number in Array(repeating: Self.color(number), count: 3) }
    let file = try Self.animation(size, frames, starts: starts)

    if durations.count > 1 {
      #expect(try Film(file).durations == durations)
    } else {
      #expect(try DecodedPixels(file: file).samples == Array(frames[1].joined()))
    }
  }

  @Test func `Of 60 frames per second, some are left out, so that the length stays`() throws {
    let size = PixelSize(width: 3, height: 1)
    let frames = (0..<120).map { number in Array(repeating: Self.color(number), count: 3) }
    let film = try Film(Self.animation(size, frames, starts: (0...120).map { $0 * 1000 / 60 }))

    #expect(abs(film.durations.reduce(0, +) - 2000) <= 10 && film.durations.allSatisfy { $0 >= 20 })
    #expect(film.frames.count > 90 && film.frames.last?.samples == frames.last.map { Array($0.joined()) })
  }

  @Test func `A short frame that makes a part transparent is not left out`() throws {
    let size = PixelSize(width: 2, height: 1)
    let (red, green) = (Self.color(1), Self.color(2))
    let frames = [[red, red], [green, green], [Self.clear, green], [red, red]]

    let film = try Film(Self.animation(size, frames, starts: [0, 20, 22, 50, 100]))

    #expect(film.frames.map { $0.at(0, 0)[3] } == [255, 255, 0, 255] && film.durations.reduce(0, +) == 100)
  }

  // MARK: Thumbnails

  /// Frames of a red, a green and a blue pixel, each of which hides the one before.
  private static let moving = (0..<3).map { SampleAnimation.Frame(width: 4, height: 2, [$0]) }
  private static let spec = ThumbnailSpec(width: 100, format: .gif, frames: .all)

  @Test(arguments: ["gif", "png"])
  func `An animated source gives an animated GIF, a marked file`(kind: String) throws {
    let source =
      kind == "gif"
      ? SampleAnimation.gif(width: 4, height: 2, repetitions: 4, Self.moving)
      : SampleAnimation.png(width: 4, height: 2, plays: 5, Self.moving)

    let thumbnail = try Renderer().render(source, specs: [Self.spec]).thumbnails[0]
    let film = try Film(thumbnail)

    #expect(thumbnail.format == .gif && thumbnail.isWhole && ThumbnailMark.isPresent(in: thumbnail.bytes))
    #expect(film.frames.map { $0.at(3, 1) } == (0..<3).map(SampleAnimation.samples))
    #expect(film.loops == 5 && film.durations == [100, 100, 100])
  }

  @Test func `A source with one frame, or of another format, gives a still GIF`() throws {
    let photo = SampleImage.jpeg(width: 60, height: 40)
    let one = SampleAnimation.gif(width: 4, height: 2, Array(Self.moving[..<1]))
    var first = Self.spec
    first.frames = .first

    for source in [photo, one] {
      let thumbnails = try Renderer().render(source, specs: [Self.spec, first]).thumbnails
      #expect(thumbnails[0].bytes == thumbnails[1].bytes && thumbnails[0].format == .gif && thumbnails[0].isWhole)
    }
    let gray = try Renderer().render(photo, specs: [first]).thumbnails[0]
    let png = try Renderer().render(photo, specs: [ThumbnailSpec(width: 100, format: .png)]).thumbnails[0]
    for error in try DecodedPixels(gray).meanError(to: DecodedPixels(png)) { #expect(error < 6) }
  }

  @Test func `Transparent thumbnails stay transparent, and are in sRGB whatever the colors of the spec`() throws {
    let frame = SampleAnimation.Frame(width: 4, height: 2, [0, 3, 3, 1, 2, 3, 0, 0])
    let source = SampleAnimation.gif(width: 4, height: 2, [frame])
    let spec = ThumbnailSpec(width: 4, fit: .pad, format: .gif, colors: .displayP3)

    let decoded = try DecodedPixels(Renderer().render(source, specs: [spec]).thumbnails[0])

    #expect(decoded.at(0, 0)[3] == 0 && decoded.at(0, 1) == [255, 0, 0, 255] && decoded.at(1, 1)[3] == 0)
    #expect(spec.fileColors == .sRGB)
  }

  @Test(arguments: [ThumbnailSpec.Frames.first, .all])
  func `A limit of bytes that is too small is an error, because GIF has no quality`(
    frames: ThumbnailSpec.Frames
  ) throws {
    let source = SampleAnimation.gif(width: 4, height: 2, Self.moving)
    var spec = ThumbnailSpec(width: 4, format: .gif, maxBytes: 5000, frames: frames)
    #expect(try Renderer().render(source, specs: [spec]).thumbnails[0].bytes.count < 5000)

    spec.maxBytes = 40
    let error = #expect(throws: ImageError.self) { try Renderer().render(source, specs: [spec]) }

    #expect(error?.code == .outputTooLarge && error?.message.contains("GIF has no quality") == true)
  }

  @Test func `Only a whole file has an end`() throws {
    let size = PixelSize(width: 20, height: 20)
    let file = try Self.animation(size, [2, 30].map { Self.pixels(size, colors: $0) })

    #expect(GIFEncoder.end(of: file.span) == file.count && GIFEncoder.end(of: (file + [0]).span) == file.count)
    for count in 0..<file.count { #expect(GIFEncoder.end(of: file.span.extracting(0..<count)) == nil, "\(count)") }
  }
}
