import Testing

@testable import ImageCache

/// The small first page of a camera raw file is not shown as if it were the image.
@Suite struct CameraRawTests {
  /// A TIFF file of directories with these entries, each of one LONG.
  private static func file(_ order: ByteOrder, _ pages: [(tag: Int, value: Int)]...) -> [UInt8] {
    func bytes(_ number: Int, _ count: Int) -> [UInt8] {
      let little = (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
      return order == .little ? little : little.reversed()
    }
    let mark = Array((order == .little ? "II" : "MM").utf8)
    // The first directory is at byte 12.
    var file = mark + bytes(42, 2) + bytes(12, 4) + bytes(0, 4)
    for (index, entries) in pages.enumerated() {
      file += bytes(entries.count, 2)
      file += entries.flatMap { bytes($0.tag, 2) + bytes(4, 2) + bytes(1, 4) + bytes($0.value, 4) }
      file += bytes(index + 1 < pages.count ? file.count + 4 : 0, 4)
    }
    return file
  }

  /// The format of another process; nil for other files.
  private static func format(_ bytes: [UInt8]) throws -> SourceFormat? {
    guard case .isolated(let format) = try FileRecognition(bytes.span) else { return nil }
    return format.format
  }

  /// Of NEF, and of DNG with and without a preview.
  private static let raw: [[(tag: Int, value: Int)]] = [
    [(254, 1), (256, 160), (330, 500)], [(254, 1), (256, 256), (330, 500), (50706, 0x0401)],
    [(254, 0), (256, 4000), (50706, 0x0104)],
  ]

  @Test(arguments: raw, [ByteOrder.big, .little])
  func `A camera raw file is recognized once its directory is complete`(
    entries: [(tag: Int, value: Int)], order: ByteOrder
  ) throws {
    let bytes = Self.file(order, entries)

    #expect(try Self.format(bytes) == .raw)
    #expect(try Self.format(Array(bytes.prefix(20))) == .tiff)
  }

  @Test(arguments: [ByteOrder.big, .little])
  func `A later page with the full image makes the file an image`(order: ByteOrder) throws {
    let preview = [(tag: 254, value: 1), (tag: 330, value: 500)]
    let bytes = Self.file(order, preview, [(254, 1)], [(254, 0)])

    #expect(try Self.format(bytes) == .tiff && Self.format(Array(bytes.dropLast(30))) == .tiff)
    #expect(try Self.format(Self.file(order, preview, [(254, 1)])) == .raw)
  }

  @Test(arguments: [[(254, 0), (330, 500)], [(254, 1), (256, 160)], [(256, 160), (330, 500)], []])
  func `Another TIFF file is an image, also with smaller pages inside`(entries: [(Int, Int)]) throws {
    for order in [ByteOrder.big, .little] {
      #expect(try Self.format(Self.file(order, entries.map { ($0, $1) })) == .tiff)
    }
  }

  /// The first bytes of files, one character per byte.
  @Test(arguments: [
    "II*\0\u{10}\0\0\0CR\u{2}\0", "\0\0\0\u{18}ftypcrx \0\0\0\u{1}", "FUJIFILMCCD-RAW 0201", "IIRO\u{8}\0\0\0",
    "IIRS\u{8}\0\0\0", "MMOR\0\0\0\u{8}", "IIU\0\u{18}\0\0\0",
  ])
  func `A camera raw file is recognized by its signature`(start: String) throws {
    #expect(try Self.format(start.unicodeScalars.map { UInt8($0.value) }) == .raw)
  }

  @Test func `A camera raw file of Sigma is refused by name`() {
    let error = #expect(throws: ImageError.self) { try FileRecognition(Array("FOVb\0\0\u{2}\0".utf8).span) }
    #expect(error == ImageError(.unsupportedFormat, "Sigma raw (X3F) is not supported."))
  }
}
