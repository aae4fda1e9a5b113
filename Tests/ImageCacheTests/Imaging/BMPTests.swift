import CImage
import TestSupport
import Testing

@testable import ImageCache

@Suite struct `BMP files` {
  private static let specs = [ThumbnailSpec(width: 16)]

  private func failure(_ bytes: [UInt8], maxPixels: Int = 1 << 20) -> ImageError? {
    do throws(ImageError) {
      _ = try Renderer(maxPixels: maxPixels).render(bytes, specs: Self.specs)
      return nil
    } catch {
      return error
    }
  }

  /// Returns the number of bytes up to the last pixel. The padding of the last row may be missing, and runs need an end
  /// only if they do not reach the last pixel.
  private static func neededCount(_ bytes: [UInt8], name: String) -> Int {
    func integer(_ offset: Int, size: Int) -> Int {
      (0..<size).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
    }
    if name.hasPrefix("rle") {
      if ["no-end", "short-rows", "early-end", "moves"].contains(where: { name.contains($0) }) { return bytes.count }
      return bytes.count - (name.contains("too-long") ? name.hasPrefix("rle8") ? 10 : 8 : 2)
    }
    let isCore = bytes[14] == 12
    let width = integer(18, size: isCore ? 2 : 4)
    let height = isCore ? integer(20, size: 2) : abs(Int(Int32(truncatingIfNeeded: integer(22, size: 4))))
    let bits = width * integer(isCore ? 24 : 28, size: 2)
    return integer(10, size: 4) + (bits + 31) / 32 * 4 * (height - 1) + (bits + 7) / 8
  }

  @Test(arguments: Fixtures.exact.filter { $0.hasSuffix(".bmp") })
  func `A file cut anywhere before its last pixel is truncated`(name: String) throws {
    let bytes = try Fixtures.exactImage(name)
    let needed = Self.neededCount(bytes, name: name)

    for count in (8..<needed).cutPositions() {
      #expect(failure(Array(bytes.prefix(count)))?.code == .truncated, "cut to \(count)")
    }

    let whole = try Renderer().render(bytes, specs: Self.specs)
    #expect(try Renderer().render(Array(bytes.prefix(needed)), specs: Self.specs).thumbnails == whole.thumbnails)
    #expect(whole.warnings.isEmpty)
  }

  @Test(arguments: [
    (0, 0, ImageError.Code.decodeError), (0, 3, .decodeError), (0, 64, .decodeError), (1, 4, .decodeError),
    (2, 8, .decodeError), (3, 24, .decodeError), (7, 24, .decodeError), (3, 1, .unsupportedFormat),
    (4, 24, .unsupportedFormat), (4, 0, .unsupportedFormat), (5, 0, .unsupportedFormat), (11, 32, .unsupportedFormat),
  ])
  func `A header with another compression or number of bits is refused`(
    compression: Int, bits: Int, code: ImageError.Code
  ) {
    let header = SampleBitmap.header(width: 2, height: 2, bits: bits, compression: compression)

    #expect(failure(SampleBitmap.file(header, Array(repeating: 0, count: 999)))?.code == code)
  }

  @Test(arguments: [
    ("an empty row", SampleBitmap.header(width: 0, height: 2, bits: 24)),
    ("a negative width", SampleBitmap.header(width: -2, height: 2, bits: 24)),
    ("no rows", SampleBitmap.header(width: 2, height: 0, bits: 24)),
    ("runs from the top down", SampleBitmap.header(width: 2, height: -2, bits: 8, compression: 1)),
    ("a mask with a gap", SampleBitmap.header(width: 2, height: 2, bits: 32, compression: 3, masks: [5, 16, 32])),
    ("masks in a header of OS/2", SampleBitmap.header(width: 2, height: 2, bits: 16, compression: 3, length: 64)),
    ("masks that overlap", SampleBitmap.header(width: 2, height: 2, bits: 32, compression: 3, masks: [3, 6, 32])),
  ])
  func `A malformed header is a decode error`(words: String, header: [UInt8]) {
    #expect(failure(SampleBitmap.file(header, Array(repeating: 0, count: 999)))?.code == .decodeError)
  }

  @Test(arguments: ["bits-24.bmp", "bits-8.bmp"])
  func `Pixels without an offset follow the header and the palette`(name: String) throws {
    var file = try Fixtures.exactImage(name)
    for index in 10..<14 { file[index] = 0 }

    #expect(try DecodedPixels(file: file) == Fixtures.exactPixels(name))
  }

  @Test func `Pixels that overlap the header are a decode error`() {
    var bytes = SampleBitmap.file(SampleBitmap.header(width: 2, height: 2, bits: 24), Array(repeating: 0, count: 99))
    #expect(failure(bytes) == nil)

    bytes[10] -= 1

    #expect(failure(bytes)?.code == .decodeError)
  }

  @Test func `Too many pixels are refused as soon as the header is complete`() throws {
    let bytes = SampleBitmap.file(SampleBitmap.header(width: 60000, height: -60000, bits: 24), [])

    let undecided = try Renderer().judge(prefix: bytes.span.extracting(first: 53))
    #expect(undecided == nil)
    let error = #expect(throws: ImageError.self) { _ = try Renderer().judge(prefix: bytes.span) }
    #expect(error?.code == .tooManyPixels)
  }

  @Test(arguments: [
    "BM is also how this text begins, which has no header.", "BM\0\0\0\0\0\0\0\0\u{36}\0\0\0\u{29}\0\0\0 ",
  ])
  func `Bytes that only begin like a file are not an image`(start: String) {
    let bytes = start.unicodeScalars.map { UInt8($0.value) }

    #expect(failure(bytes + Array(repeating: 7, count: 3000))?.code == .notAnImage)
  }

  /// Counts the rows that arrive at once.
  private final class RowCounter: RowSink {
    var counts: [Int] = []

    func begin(_ shape: DecodedShape) {}
    func needed(ofPlane index: Int) -> CImageArea { CImageArea(left: 0, top: 0, right: .max, bottom: .max) }
    func skip(_ counts: [Int]) {}
    func take(_ rows: [CImageBitmap]) { counts.append(Int(rows[0].height)) }
  }

  @Test(arguments: ["height-33.bmp", "bits-8.bmp", "rle8.bmp", "rle4-moves.bmp"])
  func `Rows are decoded a few at a time`(name: String) throws {
    let bytes = try Fixtures.exactImage(name)
    let file = try ImageFile(bytes.span, limits: DecodingLimits(maxPixels: 1 << 20), decoders: .missing)
    let (sink, height) = (RowCounter(), file.decoder.header.storedSize.height)
    var warnings: [String] = []

    try file.decode(bytes.span, colors: ColorTransformCache(), into: sink, warnings: &warnings)

    #expect(sink.counts.allSatisfy { $0 <= 16 } && sink.counts.reduce(0, +) == height)
  }

  @Test(arguments: [(24, 0), (8, 1)])
  func `Decoding takes memory for rows, not for the whole image`(bits: Int, compression: Int) throws {
    let header = SampleBitmap.header(width: 8000, height: 8000, bits: bits, compression: compression)
    let bytes = SampleBitmap.file(header, palette: Array(repeating: 0, count: 1024), [])

    let file = try #require(try ImageFile(prefix: bytes.span, limits: DecodingLimits(maxPixels: 1 << 27)))

    #expect(file.decoder.peakBytes > 16 * 8000 * 3 && file.decoder.peakBytes < 2 << 20)
  }

  @Test(arguments: [
    ("bits-24.bmp", OutputFormat.jpeg), ("fields-565.bmp", .jpeg), ("bits-8.bmp", .png), ("rle8.bmp", .png),
    ("fields-8888-v5.bmp", .png),
  ])
  func `Photos give JPEG thumbnails, and files with a palette or alpha give PNG`(
    name: String, format: OutputFormat
  ) throws {
    let rendering = try Renderer().render(Fixtures.exactImage(name), specs: Self.specs)

    #expect(rendering.source.format == .bmp && rendering.source.format.mediaType == "image/bmp")
    #expect(rendering.thumbnails.map(\.format) == [format])
  }

  /// The ICC profile of a fixture.
  private static func profile() throws -> [UInt8] {
    let bytes = try Fixtures.image("adobe-rgb.jpg")
    let start = try #require(bytes.indices.first { bytes[$0...].starts(with: "ICC_PROFILE\0".utf8) })
    let length = Int(bytes[start - 2]) << 8 | Int(bytes[start - 1])
    return Array(bytes[start + 14..<start - 2 + length])
  }

  private static func file(profile: [UInt8], shift: Int = 0) -> [UInt8] {
    let location = 124 + 48 + shift..<124 + 48 + shift + profile.count
    let header = SampleBitmap.header(width: 4, height: 4, bits: 24, length: 124, profile: location)
    return SampleBitmap.file(header, Array(repeating: [30, 200, 60], count: 16).joined() + profile)
  }

  @Test func `An embedded ICC profile is applied`() throws {
    let profile = try Self.profile()
    let png = [ThumbnailSpec(width: 4, format: .png)]

    let rendering = try Renderer().render(Self.file(profile: profile), specs: png)
    let plain = try Renderer().render(
      SampleBitmap.file(
        SampleBitmap.header(width: 4, height: 4, bits: 24), Array(Array(repeating: [30, 200, 60], count: 16).joined())),
      specs: png)

    #expect(try DecodedPixels(plain.thumbnails[0]).at(0, 0) == [60, 200, 30, 255])
    #expect(try DecodedPixels(rendering.thumbnails[0]).at(0, 0) == [0, 201, 0, 255])
    #expect(rendering.warnings.isEmpty)
  }

  @Test func `An ICC profile past the end of the file is ignored with a warning`() throws {
    let rendering = try Renderer().render(Self.file(profile: Self.profile(), shift: 1), specs: Self.specs)

    #expect(rendering.warnings == ["ICC profile ignored: it is incomplete or too large"])
  }

  @Test func `Moves past the last row end the bitmap, and runs past it have no effect`() throws {
    let header = SampleBitmap.header(width: 2, height: 2, bits: 8, compression: 1)
    let palette = Array([0, 0, 255, 0, 255, 0, 0, 0] + Array(repeating: 9, count: 1016) as [UInt8])
    let data: [UInt8] = [200, 1, 0, 2, 250, 250, 2, 0]

    let pixels = try DecodedPixels(file: SampleBitmap.file(header, palette: palette, data))

    #expect(pixels.at(0, 1) == [0, 0, 255, 255] && pixels.at(1, 1) == [0, 0, 255, 255])
    #expect(pixels.at(0, 0) == [0, 0, 0, 0] && pixels.at(1, 0) == [0, 0, 0, 0])
  }
}
