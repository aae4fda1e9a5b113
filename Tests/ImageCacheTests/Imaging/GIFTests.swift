import ImageCache
import TestSupport
import Testing

@Suite struct `GIF files` {
  private static let specs = [ThumbnailSpec(width: 16)]

  /// A control extension that makes index 0 transparent.
  private static let control: [UInt8] = [0x21, 0xF9, 4, 1, 5, 0, 0, 0]

  /// Returns a file with a palette of four colors.
  private static func file(width: UInt8 = 2, height: UInt8 = 2, _ blocks: [UInt8]) -> [UInt8] {
    Array("GIF89a".utf8) + [width, 0, height, 0, 0x81, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 9, 9] + blocks
  }

  /// Returns a frame of two by two pixels, which are the indices 1, 1, 2, 2 if `codes` is left out.
  private static func frame(codes: [UInt8] = [0x4C, 0x24, 0x15], codeSize: UInt8 = 2) -> [UInt8] {
    [0x2C, 0, 0, 0, 0, 2, 0, 2, 0, 0, codeSize] + (codes.isEmpty ? [] : [UInt8(codes.count)]) + codes + [0]
  }

  /// Returns the bytes that hold codes of three bits each. The width never changes if the codes clear the table.
  private static func packed(_ codes: [Int]) -> [UInt8] {
    let bits = codes.flatMap { code in (0..<3).map { code >> $0 & 1 } }
    return stride(from: 0, to: bits.count, by: 8).map { start in
      UInt8(bits[start..<min(start + 8, bits.count)].enumerated().reduce(0) { $0 | $1.element << $1.offset })
    }
  }

  private func code(_ bytes: [UInt8], maxPixels: Int = 1 << 20) -> ImageError.Code? {
    do throws(ImageError) {
      _ = try Renderer(maxPixels: maxPixels).render(bytes, specs: Self.specs)
      return nil
    } catch {
      return error.code
    }
  }

  @Test(arguments: Fixtures.exact.filter { $0.hasSuffix(".gif") && $0 != "animated.gif" })
  func `A file cut anywhere before its trailer is truncated`(name: String) throws {
    let bytes = try Fixtures.exactImage(name)
    let end = name == "no-trailer.gif" ? bytes.count : bytes.count - 1

    for count in (8..<end).cutPositions() {
      #expect(code(Array(bytes.prefix(count))) == .truncated, "cut to \(count)")
    }

    let warnings = try Renderer().render(Array(bytes.prefix(end)), specs: Self.specs).warnings
    #expect(warnings == ["the GIF file ends before its trailer"])
  }

  @Test func `A file cut within a later frame is truncated`() throws {
    let bytes = try Fixtures.exactImage("animated.gif")

    let codes = (8..<bytes.count - 1).map { code(Array(bytes.prefix($0))) }

    // Between two blocks, only the trailer is missing: after the first frame, and after each later block.
    #expect(codes.filter { $0 == nil }.count == 4)
    #expect(codes.allSatisfy { $0 == nil || $0 == .truncated })
  }

  @Test func `Codes decode to the indices of the palette`() throws {
    let codes = Self.packed([4, 1, 1, 4, 2, 2, 5])

    let pixels = try DecodedPixels(file: Self.file(Self.frame(codes: codes) + [0x3B]))

    #expect(pixels.at(0, 0) == [0, 255, 0, 255] && pixels.at(1, 0) == [0, 255, 0, 255])
    #expect(pixels.at(0, 1) == [0, 0, 255, 255] && pixels.at(1, 1) == [0, 0, 255, 255])
  }

  @Test(arguments: [
    ("a code that the table does not have", packed([4, 1, 7, 1])), ("a first code that is no index", packed([4, 6])),
    ("an end code before the last pixel", packed([4, 1, 5])), ("no end code and too few pixels", packed([4, 1])),
    ("no data", []),
  ])
  func `Damaged image data is a decode error`(words: String, codes: [UInt8]) {
    #expect(code(Self.file(Self.frame(codes: codes) + [0x3B])) == .decodeError)
  }

  @Test(arguments: [UInt8(0), 12, 13, 255])
  func `A code size out of range is a decode error`(codeSize: UInt8) {
    #expect(code(Self.file(Self.frame(codeSize: codeSize) + [0x3B])) == .decodeError)
  }

  @Test func `A file without a frame is a decode error`() {
    #expect(code(Self.file([0x3B])) == .decodeError)
    #expect(code(Self.file(width: 0, height: 0, [0x2C, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0x3B])) == .decodeError)
  }

  @Test func `A frame without a size is as large as the screen`() throws {
    let codes = Self.packed([4, 1, 1, 4, 2, 2, 5])
    var frame = Self.frame(codes: codes)
    (frame[5], frame[7]) = (0, 0)

    let pixels = try DecodedPixels(file: Self.file(frame + [0x3B]))

    #expect(pixels.size == PixelSize(width: 2, height: 2) && pixels.at(1, 1) == [0, 0, 255, 255])
  }

  @Test func `Endless blocks before the first frame exceed a limit`() {
    let comments = Array(repeating: [0x21, 0xFE, 0] as [UInt8], count: 5000).joined()
    #expect(code(Self.file(Array(comments))) == .decodeLimit)
    #expect(code(Self.file(Array(repeating: 0, count: 5000))) == .decodeLimit)
  }

  @Test func `The canvas that the first frame makes larger counts toward the limit`() {
    var frame = Self.frame()
    (frame[2], frame[4]) = (200, 200)

    #expect(code(Self.file(frame), maxPixels: 1000) == .tooManyPixels)
  }

  @Test func `Only the first of 54,000 frames is decoded`() throws {
    let first = Self.control + Self.frame(codes: Self.packed([4, 0, 1, 4, 2, 2, 5]))
    // The other frames would fail.
    let other = Self.control + Self.frame(codes: Self.packed([4, 1, 7, 1]), codeSize: 99)
    let file = Self.file(first + Array(repeating: other, count: 53_999).joined() + [0x3B])

    let rendering = try Renderer().render(file, specs: Self.specs)

    #expect(rendering.warnings.isEmpty)
    #expect(try DecodedPixels(rendering.thumbnails[0]).at(0, 0)[3] == 0)
    #expect(try DecodedPixels(rendering.thumbnails[0]).at(1, 0) == [0, 255, 0, 255])
    #expect(code(Array(file.dropLast(5))) == .truncated)
  }

  @Test func `Garbage after the first frame is ignored with a warning`() throws {
    let codes = Self.packed([4, 1, 1, 4, 2, 2, 5])

    let rendering = try Renderer().render(Self.file(Self.frame(codes: codes) + [9, 9, 9]), specs: Self.specs)

    #expect(rendering.warnings == ["ignored garbage after the first frame of the GIF file"])
  }

  @Test func `A GIF gives a PNG thumbnail unless the spec requests JPEG`() throws {
    let bytes = try Fixtures.exactImage("transparent.gif")

    let rendering = try Renderer().render(
      bytes, specs: [ThumbnailSpec(width: 20), ThumbnailSpec(width: 20, format: .jpeg)])

    #expect(rendering.source.format == .gif && rendering.source.format.mediaType == "image/gif")
    #expect(rendering.thumbnails.map(\.format) == [.png, .jpeg])
  }
}
