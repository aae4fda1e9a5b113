import Testing

@testable import ImageCache

/// The preview in a camera raw file is not shown as if it were the image.
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

  private static func error(_ bytes: [UInt8]) -> ImageError? {
    do throws(ImageError) {
      _ = try FileRecognition(bytes.span)
      return nil
    } catch {
      return error
    }
  }

  private static let raw: [(entries: [(tag: Int, value: Int)], name: String)] = [
    ([(254, 1), (256, 160), (330, 500)], "Camera raw (such as NEF and ARW)"),
    ([(254, 1), (256, 256), (330, 500), (50706, 0x0401)], "Adobe raw (DNG)"),
    ([(254, 0), (256, 4000), (50706, 0x0104)], "Adobe raw (DNG)"),
  ]

  @Test(arguments: raw, [ByteOrder.big, .little])
  func `A camera raw file is refused by name once its directory is complete`(
    raw: (entries: [(tag: Int, value: Int)], name: String), order: ByteOrder
  ) {
    let bytes = Self.file(order, raw.entries)

    #expect(Self.error(bytes) == ImageError(.unsupportedFormat, "\(raw.name) is not supported."))
    #expect(Self.error(Array(bytes.prefix(20))) == nil)
  }

  @Test(arguments: [ByteOrder.big, .little])
  func `A later page with the full image makes the file an image`(order: ByteOrder) throws {
    let preview = [(tag: 254, value: 1), (tag: 330, value: 500)]
    let bytes = Self.file(order, preview, [(254, 1)], [(254, 0)])

    #expect(Self.error(bytes) == nil && Self.error(Array(bytes.dropLast(30))) == nil)
    #expect(Self.error(Self.file(order, preview, [(254, 1)]))?.code == .unsupportedFormat)
  }

  @Test(arguments: [[(254, 0), (330, 500)], [(254, 1), (256, 160)], [(256, 160), (330, 500)], []])
  func `Another TIFF file is an image, also with smaller pages inside`(entries: [(Int, Int)]) throws {
    for order in [ByteOrder.big, .little] {
      guard case .isolated(let format) = try FileRecognition(Self.file(order, entries.map { ($0, $1) }).span) else {
        Issue.record("not recognized")
        continue
      }
      #expect(format.format == .tiff)
    }
  }

  /// The first bytes of files, one character per byte.
  @Test(arguments: [
    ("Canon raw (CR2)", "II*\0\u{10}\0\0\0CR\u{2}\0"), ("Fujifilm raw (RAF)", "FUJIFILMCCD-RAW 0201"),
    ("Olympus raw (ORF)", "IIRO\u{8}\0\0\0"), ("Olympus raw (ORF)", "IIRS\u{8}\0\0\0"),
    ("Olympus raw (ORF)", "MMOR\0\0\0\u{8}"), ("Panasonic raw (RW2)", "IIU\0\u{18}\0\0\0"),
    ("Sigma raw (X3F)", "FOVb\0\0\u{2}\0"),
  ])
  func `A camera raw file is refused by its signature`(name: String, start: String) {
    let bytes = start.unicodeScalars.map { UInt8($0.value) }

    #expect(Self.error(bytes) == ImageError(.unsupportedFormat, "\(name) is not supported."))
  }
}
