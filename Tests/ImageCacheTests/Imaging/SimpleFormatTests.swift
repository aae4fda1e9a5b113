import TestSupport
import Testing

@testable import ImageCache

/// QOI and PNM files that are damaged or something else. `make test-decoders` compares the pixels of whole ones.
@Suite struct SimpleFormatTests {
  private static let spec = ThumbnailSpec(width: 20, height: 20, format: .rgba)
  private static let qoi =
    Array("qoif".utf8) + [0, 0, 0, 3, 0, 0, 0, 2, 4, 0] + [0xFE, 200, 30, 20, 0xC4] + [0, 0, 0, 0, 0, 0, 0, 1]
  private static let pgm = Array("P5\n3 2\n255\n".utf8) + [0, 50, 100, 150, 200, 250]
  private static let pbm = Array("P4 3 2 ".utf8) + [0b0100_0000, 0b1000_0000]

  private func render(_ file: [UInt8], _ level: FailLevel = .error) throws -> Renderer.Rendering {
    var renderer = Renderer(maxPixels: 1 << 20)
    renderer.failLevel = level
    return try renderer.render(file, specs: [Self.spec])
  }

  private func error(_ file: [UInt8]) -> ImageError? { #expect(throws: ImageError.self) { try render(file) } }

  @Test func `Pixels, runs, gray samples and bits have their colors`() throws {
    let (qoi, pgm, pbm) = (try render(Self.qoi), try render(Self.pgm), try render(Self.pbm))

    #expect(qoi.source.format == .qoi && pgm.source.format == .pnm && pbm.source.format == .pnm)
    #expect(qoi.thumbnails.first?.bytes == Array(repeating: [200, 30, 20, 255], count: 6).flatMap { $0 })
    #expect(pgm.thumbnails.first?.bytes == [0, 50, 100, 150, 200, 250].flatMap { [$0, $0, $0, 255] })
    #expect(pbm.thumbnails.first?.bytes == [255, 0, 255, 0, 255, 255].flatMap { [$0, $0, $0, 255] })
  }

  @Test(arguments: [qoi.dropLast(8), pgm[...], pbm[...]])
  func `A file that is cut anywhere is truncated`(file: ArraySlice<UInt8>) throws {
    for end in 4..<file.count {
      #expect(error(Array(file.prefix(end)))?.code == .truncated, "\(end)")
    }
    #expect(try render(Array(file.dropLast()), .none).thumbnails.count == 1)
  }

  @Test(arguments: [
    ("P5 reasons to go", ImageError.Code.notAnImage), ("P6 3 2 255x", .notAnImage), ("P5 3 2 70000 ", .notAnImage),
    ("P4 99999999999999999999 2 ", .notAnImage), ("P5 # \(String(repeating: "x", count: 5000))", .notAnImage),
    ("P5 9999 9999 255 ", .tooManyPixels), ("P5 0 2 255 ", .decodeError),
    ("qoif\0\0\0\u{2}\0\0\0\u{2}\u{5}\0", .decodeError), ("qoif\0\0\0\u{2}\0\0\0\u{2}\u{4}\u{2}", .decodeError),
    ("qoif\0\0\u{7F}\u{7F}\0\0\u{7F}\u{7F}\u{4}\0", .tooManyPixels),
  ])
  func `A header that contradicts the format is refused`(start: String, code: ImageError.Code) {
    #expect(error(Array(start.utf8))?.code == code)
  }

  @Test func `Linear samples of QOI become sRGB`() throws {
    var file = Self.qoi
    file[13] = 1

    #expect(try render(file).thumbnails.first?.bytes.prefix(4) == [229, 96, 79, 255])
  }
}
