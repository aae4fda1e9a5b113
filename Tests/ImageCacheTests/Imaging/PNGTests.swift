import CImage
import CPNG
import TestSupport
import Testing

@testable import ImageCache

@Suite struct `PNG files` {
  /// Returns a file written byte by byte, with the pixels uncompressed in a stored zlib block.
  private static func file(colorType: UInt8, size: (Int, Int), rows: [[UInt8]]) -> [UInt8] {
    let data: [UInt8] = Array(rows.map { [0] + $0 }.joined())
    let (length, check) = (UInt16(data.count), adler32(data))
    let stored: [UInt8] = [0x78, 0x01, 0x01] + bytes(length) + bytes(~length) + data + bytes(check).reversed()
    let header: [UInt8] = [0, 0, 0, UInt8(size.0), 0, 0, 0, UInt8(size.1), 8, colorType, 0, 0, 0]
    return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + SampleImage.pngChunk("IHDR", header)
      + SampleImage.pngChunk("IDAT", stored) + SampleImage.pngChunk("IEND", [])
  }

  /// Returns the bytes of an integer in little-endian order.
  private static func bytes<Integer: FixedWidthInteger>(_ value: Integer) -> [UInt8] {
    (0..<Integer.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  private static func adler32(_ data: [UInt8]) -> UInt32 {
    let (low, high) = data.reduce((UInt32(1), UInt32(0))) { sums, byte in
      let low = (sums.0 + UInt32(byte)) % 65521
      return (low, (sums.1 + low) % 65521)
    }
    return high << 16 | low
  }

  /// Returns a file as those in iOS packages: raw deflate data in two chunks, in which blue comes first and alpha is
  /// premultiplied. `rows` are those of an ordinary file.
  private static func appleFile(colorType: UInt8, size: (Int, Int), rows: [[UInt8]], more: [UInt8] = []) -> [UInt8] {
    let channels = colorType == 6 ? 4 : 3
    var data: [UInt8] = []
    for row in rows {
      data.append(0)
      for start in stride(from: 0, to: row.count, by: channels) {
        let alpha = channels == 4 ? Int(row[start + 3]) : 255
        for channel in 0..<3 { data.append(UInt8((Int(row[start + 2 - channel]) * alpha + 127) / 255)) }
        if channels == 4 { data.append(UInt8(alpha)) }
      }
    }
    let deflated = BodyCoding.rawDeflate(data)
    let header: [UInt8] = [0, 0, 0, UInt8(size.0), 0, 0, 0, UInt8(size.1), 8, colorType, 0, 0, 0]
    return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + SampleImage.pngChunk("CgBI", [0x50, 0, 0x20, 2])
      + SampleImage.pngChunk("IHDR", header) + more + SampleImage.pngChunk("IDAT", Array(deflated[..<5]))
      + SampleImage.pngChunk("IDAT", Array(deflated[5...])) + SampleImage.pngChunk("IEND", [])
  }

  private static let appleRows: [[UInt8]] = (0..<9).map { y in
    (0..<12).flatMap { x -> [UInt8] in
      let alpha: [UInt8] = [255, 255, 0, 128]
      return [UInt8(x * 20), UInt8(y * 28), 40, alpha[(x + y) % 4]]
    }
  }

  @Test func `A file of an iOS package has the pixels of the ordinary file`() throws {
    let ordinary = Self.file(colorType: 6, size: (12, 9), rows: Self.appleRows)
    let apple = Self.appleFile(colorType: 6, size: (12, 9), rows: Self.appleRows)
    let (expected, found) = (try DecodedPixels(file: ordinary), try DecodedPixels(file: apple))

    #expect(found.size == expected.size)
    for index in stride(from: 0, to: expected.samples.count, by: 4) where expected.samples[index + 3] > 0 {
      // A premultiplied sample of half the alpha has half the levels.
      #expect((0..<4).allSatisfy { abs(Int(found.samples[index + $0]) - Int(expected.samples[index + $0])) <= 1 })
    }
    let opaque = Self.appleRows.map { row in row.enumerated().filter { $0.offset % 4 < 3 }.map(\.element) }
    let (rgb, plain) = (
      Self.appleFile(colorType: 2, size: (12, 9), rows: opaque), Self.file(colorType: 2, size: (12, 9), rows: opaque)
    )
    #expect(try DecodedPixels(file: rgb) == DecodedPixels(file: plain))
  }

  @Test func `A file of an iOS package may be turned, and fails where it is damaged`() throws {
    // TIFF 6.0: a big-endian directory with the tag 0x0112, a short with the value 6.
    let exif: [UInt8] = [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0]
    let turned = Self.appleFile(
      colorType: 6, size: (12, 9), rows: Self.appleRows, more: SampleImage.pngChunk("eXIf", exif))
    let specs = [ThumbnailSpec(width: 20)]
    #expect(try Renderer().render(turned, specs: specs).thumbnails[0].size == PixelSize(width: 9, height: 12))

    for count in 0..<turned.count {
      #expect(throws: ImageError.self) { try Renderer().render(turned[..<count], specs: specs) }
    }
    var damaged = turned
    damaged[turned.count - 40] ^= 0xFF
    #expect(throws: ImageError.self) { try Renderer().render(damaged, specs: specs) }
  }

  @Test func `A file written by hand decodes to exactly its pixels`() throws {
    let rows: [[UInt8]] = [
      [255, 0, 0, 255, 0, 255, 0, 128], [0, 0, 255, 1, 9, 8, 7, 0], [1, 2, 3, 255, 250, 251, 252, 254],
    ]
    let color = try DecodedPixels(file: Self.file(colorType: 6, size: (2, 3), rows: rows))
    #expect(color.samples == Array(rows.joined()) && color.size == PixelSize(width: 2, height: 3))

    let gray = try DecodedPixels(file: Self.file(colorType: 0, size: (3, 1), rows: [[0, 127, 255]]))
    #expect(gray.samples == [0, 0, 0, 255, 127, 127, 127, 255, 255, 255, 255, 255])
  }

  /// A function that computes the pixels of an image, and the color type and depth that its file must have.
  struct Sample: CustomTestStringConvertible {
    var name: String
    var layout: PixelLayout
    var colorType: UInt8
    var depth: UInt8 = 8
    var pixel: @Sendable (_ x: Int, _ y: Int) -> [UInt8]
    var testDescription: String { name }
  }

  private static let samples = [
    Sample(name: "color", layout: .rgb, colorType: 2) { [UInt8($0 * 3 & 255), UInt8($1 * 5 & 255), UInt8($0 ^ $1)] },
    Sample(name: "opaque", layout: .rgba, colorType: 2) { [UInt8($0 * 3 & 255), UInt8($1 * 5 & 255), 7, 255] },
    Sample(name: "translucent", layout: .rgba, colorType: 6) { [UInt8($0), UInt8($1), 7, UInt8($0 * 2)] },
    Sample(name: "gray in color", layout: .rgb, colorType: 0) { Array(repeating: UInt8($0 * 2 ^ $1), count: 3) },
    Sample(name: "translucent gray in color", layout: .rgba, colorType: 4) {
      Array(repeating: UInt8($0 * 2), count: 3) + [UInt8($1 * 2)]
    },
    Sample(name: "opaque gray", layout: .grayAlpha, colorType: 0) { [UInt8($0 * 2 ^ $1), 255] },
    Sample(name: "one color", layout: .rgb, colorType: 3, depth: 1) { _, _ in [9, 8, 7] },
    Sample(name: "two colors", layout: .rgb, colorType: 3, depth: 1) { $0 * $1 % 7 < 3 ? [255, 0, 0] : [0, 0, 255] },
    Sample(name: "four colors", layout: .rgba, colorType: 3, depth: 2) { [UInt8($0 * $1 % 4) * 60, 0, 0, 255] },
    Sample(name: "sixteen colors", layout: .rgba, colorType: 3, depth: 4) {
      let value = UInt8($0 * $1 % 16)
      return [value * 10, 255 - value, 0, value * 17]
    },
    Sample(name: "250 colors", layout: .rgb, colorType: 3) {
      let value = UInt8(($0 * 7919 + $1 * $1 * 104729) % 250)
      return [value, value &* 7, value &* 31]
    },
  ]

  private static func bitmap(_ sample: Sample, width: Int, height: Int) throws -> Bitmap {
    let bitmap = try Bitmap(size: PixelSize(width: width, height: height), layout: sample.layout)
    for index in 0..<width * height {
      let pixel = sample.pixel(index % width, index / width)
      for (channel, value) in pixel.enumerated() { bitmap.planes[0].samples[index * pixel.count + channel] = value }
    }
    return bitmap
  }

  @Test(arguments: samples)
  func `The encoder chooses the smallest lossless form`(sample: Sample) throws {
    let bitmap = try Self.bitmap(sample, width: 101, height: 90)

    let file = try PNGEncoder(ThumbnailSpec(width: 1)).encode(bitmap)

    #expect(file[25] == sample.colorType && file[24] == sample.depth)
    #expect(try DecodedPixels(file: file) == DecodedPixels(bitmap))
  }

  @Test(arguments: samples, [(1, 1), (3, 2), (16, 16), (17, 40), (101, 90)])
  func `An encoded file is never larger than its uncompressed pixels`(sample: Sample, size: (Int, Int)) throws {
    let bitmap = try Self.bitmap(sample, width: size.0, height: size.1)

    let file = try PNGEncoder(ThumbnailSpec(width: 1)).encode(bitmap)

    #expect(try DecodedPixels(file: file) == DecodedPixels(bitmap))
    // The size without any compression, a bound that needs no second encoder.
    #expect(file.count <= size.1 * (1 + size.0 * sample.layout.channels) + 57 + 11)
  }

  /// Returns the size of the file that libpng writes for these pixels.
  private static func libpngCount(_ pixels: DecodedPixels, flags: Int = 0) -> Int {
    var image = png_image()
    image.version = UInt32(PNG_IMAGE_VERSION)
    image.width = UInt32(pixels.size.width)
    image.height = UInt32(pixels.size.height)
    image.format = UInt32(PNG_FORMAT_FLAG_ALPHA | PNG_FORMAT_FLAG_COLOR)
    image.flags = UInt32(flags)
    var count = 0
    let isWritten = png_image_write_to_memory(&image, nil, &count, 0, pixels.samples, 0, nil)
    #expect(isWritten != 0)
    return count
  }

  @Test(arguments: Fixtures.names.filter { $0.hasSuffix(".png") }, [16, 33, 64])
  func `A thumbnail is never larger than without filters, and at most 5 percent larger than libpng's best`(
    name: String, width: Int
  ) throws {
    let spec = ThumbnailSpec(width: width)

    let file = try Renderer().render(Fixtures.image(name), specs: [spec]).thumbnails[0].bytes

    let pixels = try DecodedPixels(file: file)
    let (plain, best) = (Self.libpngCount(pixels, flags: Int(PNG_IMAGE_FLAG_FAST)), Self.libpngCount(pixels))
    // The comment in every thumbnail takes 44 bytes, which libpng does not write.
    let count = file.count - 44
    #expect(count <= plain, "\(count) bytes, libpng \(plain)")
    #expect(Double(count) <= Double(best) * 1.05, "\(count) bytes, libpng \(best)")
  }
}
