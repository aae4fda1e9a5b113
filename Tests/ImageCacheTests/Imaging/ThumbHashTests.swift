import Testing

@testable import ImageCache

/// Compares hashes with those of the reference implementation, https://github.com/evanw/thumbhash.
///
/// The expected values come from its JavaScript version, run with Node.js 20 on the images below. Its Rust version (by
/// way of the PyPI package `fast-thumbhash` 1.0.0) and a port to Python (`thumbhash-python` 1.0.1) gave the same ones,
/// except where a test says otherwise.
@Suite struct `Hashes of blurred images` {
  /// An image that every language can make, because only integers are involved.
  struct Image: CustomStringConvertible {
    enum Kind: String { case opaque, gray, translucent, transparent, flat, stripes }
    let width, height: Int
    let kind: Kind
    var description: String { "\(width)x\(height) \(kind)" }

    var hash: ThumbHash { ThumbHash(samples.span, size: PixelSize(width: width, height: height)) }

    var samples: [UInt8] {
      var samples: [UInt8] = []
      for y in 0..<height { for x in 0..<width { samples += pixel(x, y).map { UInt8($0) } } }
      return samples
    }

    private func pixel(_ x: Int, _ y: Int) -> [Int] {
      switch kind {
      case .opaque: (0..<3).map { tone(x, y, $0) } + [255]
      case .gray: [Int](repeating: tone(x, y, 0), count: 3) + [255]
      case .translucent: (0..<3).map { tone(x, y, $0) } + [(x * 255 / width + noise(x, y, 3) % 64) % 256]
      case .transparent: [9, 8, 7, 0]
      case .flat: [200, 100, 50, 255]
      case .stripes: x / 10 % 2 == 1 ? [255, 255, 255, 255] : [0, 0, 0, 255]
      }
    }

    /// A ramp, stripes, and a little noise.
    private func tone(_ x: Int, _ y: Int, _ channel: Int) -> Int {
      let ramp = x * (20 + 25 * channel) / width + y * (110 - 30 * channel) / height
      let stripes = (x * x * (channel + 1) + y * y * 3) / (width + height) % 97
      return min(255, ramp + stripes + noise(x, y, channel) % 23)
    }

    private func noise(_ x: Int, _ y: Int, _ channel: Int) -> Int {
      let mixed = (x * 73_856_093 ^ y * 19_349_663 ^ channel * 83_492_791) & 0xFFFF_FFFF
      return ((mixed ^ mixed >> 13) * 0x5BD1_E995 & 0xFFFF_FFFF) >> 15 & 0xFF
    }
  }

  private static func image(_ width: Int, _ height: Int, _ kind: Image.Kind = .opaque) -> Image {
    Image(width: width, height: height, kind: kind)
  }

  @Test(arguments: [
    (image(100, 75), "HAgOHYRzh4dgh3iHiHd3d5xwuApo"), (image(58, 100), "HAgOHASEB4dnh4aYaId9kNcHiQ=="),
    (image(100, 100), "HPgNHwRzh4dgh4d2iHeIh3d3yAp3rJAF"), (image(7, 5), "0PcJHYSDh4dwd4eHh3h4eH6A1wl4"),
    (image(100, 9), "2fcNEYZgh4dyd4eH2YCIP4g="), (image(3, 100), "WQgOEQKFgGd3hol4joDnCIc="),
    (image(90, 60, .gray), "HAgSBYCFd4dweHiIh3eHhwAAAAAA"),
    (image(100, 66, .translucent), "3feFE4QYdHmAiYeJgJcJigA8eHh4eIg="),
    (image(97, 100, .translucent), "3feFDQIYhHmAeXZ4iJqQtghaAEt4eIeHhw=="),
    (image(64, 64, .translucent), "3feFFQQYhHiAeYeId3uguAarEEt4h3iIhw=="),
    (image(40, 30, .transparent), "AAiCBIAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="),
  ])
  func `A hash has the bytes of the reference implementation`(image: Image, expected: String) {
    #expect(image.hash.base64 == expected)
  }

  /// Most terms of these images are 0 but for rounding errors, by which the versions in JavaScript (first) and Rust
  /// differ from one another.
  @Test(arguments: [
    (image(1, 1, .flat), "Hcs6zzII9wiIh4hwj3CI+AiIgIAICIgA", "Hcs6zzIH+AeHiIeAj4CI+AeHcHAIB4cA"),
    (image(2, 1), "RecNLIh0C4uIiIewSIeIh894+A==", "RecNLIiEC4uHiIiwSIiIiM+I+A=="),
    (image(60, 60, .stripes), "IAgeBwB1hHCIiHiHiIiIeIiICAAAAAAA", "IAgeBwCFhICIiIiIiHiIiIiHBwAAAAAA"),
  ])
  func `A term of 0 is rounded up, however the reference implementations round it`(
    image: Image, script: String, rust: String
  ) throws {
    for reference in [script, rust] {
      let expected = try #require(ThumbHash(base64: reference)).bytes
      let ours = image.hash.bytes
      #expect(ours.count == expected.count && ours.prefix(5) == expected.prefix(5))
      for (ours, expected) in zip(ours, expected).dropFirst(5) {
        #expect(0...1 ~= Int(ours & 15) - Int(expected & 15) && 0...1 ~= Int(ours >> 4) - Int(expected >> 4))
      }
    }
  }

  /// The reference implementations write rounding errors, each of them others. No decoder uses them.
  @Test(arguments: [(image(50, 40, .flat), "HcsCBoCHh4h4eIh4iPeHaIeH9HiIj4c=")])
  func `An image of one color has no waves`(image: Image, reference: String) throws {
    let expected = try #require(ThumbHash(base64: reference)).bytes

    #expect(image.hash.bytes == expected.prefix(5) + Array(repeating: 0, count: expected.count - 5))
  }

  /// The pixels are those of the corners, of the middle, and of column 5 in row 9.
  @Test(arguments: [
    ("HAgOHYRzh4dgh3iHiHd3d5xwuApo", 32, 23, decodedLandscape),
    ("HAgOHASEB4dnh4aYaId9kNcHiQ==", 18, 32, decodedPortrait),
    ("3feFFQQYhHiAeYeId3uguAarEEt4h3iIhw==", 32, 32, decodedTranslucent),
    ("AAiCBIAAAAAAAAAAAAAAAAAAAAAAAAAAAA==", 32, 26, decodedTransparent),
  ])
  func `A hash is decoded as by the reference implementation`(
    hash: String, width: Int, height: Int, expected: [[UInt8]]
  ) throws {
    let pixels = try #require(ThumbHash(base64: hash)).pixels(in: PixelSize(width: width, height: height))
    let (right, bottom) = (width - 1, height - 1)
    let places = [(0, 0), (right, 0), (0, bottom), (right, bottom), (width / 2, height / 2), (5, 9)]

    #expect(pixels.count == width * height * 4)
    for ((x, y), expected) in zip(places, expected) {
      let start = (y * width + x) * 4
      #expect(zip(pixels[start..<start + 4], expected).allSatisfy { abs(Int($0) - Int($1)) <= 1 }, "\(x), \(y)")
    }
  }

  private static let decodedLandscape: [[UInt8]] = [
    [6, 9, 9, 255], [76, 100, 122, 255], [184, 149, 104, 255], [202, 183, 170, 255], [123, 122, 128, 255],
    [79, 66, 61, 255],
  ]
  private static let decodedPortrait: [[UInt8]] = [
    [28, 26, 29, 255], [56, 91, 132, 255], [198, 163, 134, 255], [216, 202, 195, 255], [137, 133, 128, 255],
    [80, 78, 77, 255],
  ]
  private static let decodedTranslucent: [[UInt8]] = [
    [93, 96, 103, 77], [77, 117, 137, 122], [139, 120, 111, 77], [146, 127, 123, 113], [113, 119, 120, 155],
    [98, 105, 107, 97],
  ]
  private static let decodedTransparent = [[UInt8]](repeating: [3, 0, 0, 0], count: 6)

  @Test(arguments: [(-1, 3, 1, 3), (0, 0, 1, 1), (.max, 2, 1024, 2), (2, .min, 2, 1)])
  func `The sides of a decoded hash are between 1 and 1024`(
    width: Int, height: Int, expectedWidth: Int, expectedHeight: Int
  ) throws {
    let hash = try #require(ThumbHash(base64: "3feFFQQYhHiAeYeId3uguAarEEt4h3iIhw=="))
    let size = PixelSize(width: width, height: height)

    #expect(hash.pixels(in: size).count == expectedWidth * expectedHeight * 4)
    #expect(try DecodedPixels(file: hash.png(in: size)).size == PixelSize(width: expectedWidth, height: expectedHeight))
  }

  @Test func `The PNG file of a hash has its pixels`() throws {
    let hash = try #require(ThumbHash(base64: "3feFFQQYhHiAeYeId3uguAarEEt4h3iIhw=="))
    let size = PixelSize(width: 9, height: 7)
    let pixels = try DecodedPixels(file: hash.png(in: size))

    #expect(pixels.size == size)
    for (pixel, place) in zip(hash.pixels(in: size).chunks(of: 4), 0...) where pixel[3] > 0 {
      #expect(pixels.at(place % 9, place / 9) == pixel)
    }
  }

  @Test(arguments: [
    "HAgOHYRzh4dgh3iHiHd3d5xwuApo", "HAgOHASEB4dnh4aYaId9kNcHiQ==", "3feFFQQYhHiAeYeId3uguAarEEt4h3iIhw==",
  ])
  func `A hash is read from its Base64 text, and needs all its bytes and no more`(text: String) throws {
    let hash = try #require(ThumbHash(base64: text))

    #expect(hash.base64 == text && "\(hash)" == text && ThumbHash(bytes: hash.bytes) == hash)
    #expect(ThumbHash(base64: text.replacing("=", with: "")) == hash)
    #expect(hash.hasAlpha == (hash.bytes.count == 25))
    for count in hash.bytes.indices { #expect(ThumbHash(bytes: Array(hash.bytes.prefix(count))) == nil) }
    #expect(ThumbHash(bytes: hash.bytes + [0]) == nil && ThumbHash(base64: "!" + text) == nil)
  }
}

extension [UInt8] {
  fileprivate func chunks(of length: Int) -> [[UInt8]] {
    stride(from: 0, to: count, by: length).map { Array(self[$0..<$0 + length]) }
  }
}
