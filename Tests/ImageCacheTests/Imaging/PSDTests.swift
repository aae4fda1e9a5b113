import TestSupport
import Testing

@testable import ImageCache

/// A small PSD file, written by the specification of Adobe.
private struct PSDFile {
  var width = 5
  var height = 7
  /// RGB.
  var mode = 3
  var depth = 8
  var planes = 3
  var compression = 0
  /// The number of layers; nil for a file without any.
  var layers: Int?
  /// The content of resource 1057; nil leaves the resource out.
  var version: [UInt8]?
  /// The end of a row with PackBits, from this row on.
  var damagedRow: Int?

  static func number(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  private var rows: [[UInt8]] {
    (0..<planes * height).map { row in (0..<width).map { UInt8(truncatingIfNeeded: row * 7 + $0) } }
  }

  private var imageData: [UInt8] {
    switch compression {
    case 1:
      let packed = rows.enumerated().map { index, row in
        let isDamaged = damagedRow.map { index % height >= $0 } ?? false
        return [UInt8(width - 1 + (isDamaged ? 1 : 0))] + row
      }
      return packed.flatMap { Self.number($0.count, 2) } + packed.flatMap { $0 }
    case 2: return BodyCoding.zlib(Array(rows.joined()))
    default: return Array(rows.joined())
    }
  }

  var bytes: [UInt8] {
    let number = Self.number
    let resource = version.map { Array("8BIM".utf8) + number(1057, 2) + [0, 0] + number($0.count, 4) + $0 + [0] } ?? []
    let section = layers.map { number(4, 4) + number($0, 2) + [0, 0] + number(0, 4) } ?? []
    return Array("8BPS".utf8) + number(1, 2) + number(0, 6) + number(planes, 2) + number(height, 4) + number(width, 4)
      + number(depth, 2) + number(mode, 2) + number(0, 4) + number(resource.count, 4) + resource
      + number(section.count, 4) + section + number(compression, 2) + imageData
  }
}

/// PSD files that are damaged, contradict themselves, or have no image.
@Suite(
  .timeLimit(.minutes(10)), .decoderLibraries,
  .disabled(if: Sanitizer.isOn, "The sandbox stops a program with a sanitizer."))
struct PSDTests {
  private static let spec = ThumbnailSpec(width: 100, height: 100, format: .rgba)
  private static let unreal: [UInt8] = [0, 0, 0, 1, 0]

  private func render(_ file: [UInt8], _ level: FailLevel = .truncated) throws -> Renderer.Rendering {
    var renderer = Renderer(isolation: .patient)
    renderer.failLevel = level
    return try renderer.render(file, specs: [Self.spec])
  }

  private func error(_ file: [UInt8]) -> ImageError? {
    #expect(throws: ImageError.self) { try render(file, .error) }
  }

  @Test(arguments: [0, 1, 2])
  func `A file that is cut anywhere is truncated`(compression: Int) throws {
    let file = PSDFile(compression: compression, layers: 2, version: [0, 0, 0, 1, 1]).bytes

    #expect(try render(file).source.format == .psd)
    for end in (6..<file.count).cutPositions(count: 90) {
      #expect(error(Array(file.prefix(end)))?.code == .truncated, "\(end)")
    }
  }

  @Test(arguments: [0, 1, 2])
  func `A cut file shows the rows of which all colors are there`(compression: Int) throws {
    let file = PSDFile(compression: compression).bytes
    let whole = try render(file).thumbnails[0].bytes

    let rendering = try render(Array(file.dropLast(compression == 2 ? 6 : 8)), .none)

    let (cut, kept) = (rendering.thumbnails[0].bytes, compression == 2 ? 1 : 5)
    #expect(rendering.isDamaged && cut.count == whole.count)
    #expect(cut.prefix(kept * 5 * 4) == whole.prefix(kept * 5 * 4) && cut.suffix(4) == [128, 128, 128, 255])
  }

  @Test func `A damaged row keeps those before it`() throws {
    let whole = try render(PSDFile(compression: 1).bytes).thumbnails[0].bytes
    let file = PSDFile(compression: 1, damagedRow: 3).bytes

    #expect(error(file)?.code == .decodeError)
    #expect(try render(file, .none).thumbnails[0].bytes.prefix(3 * 5 * 4) == whole.prefix(3 * 5 * 4))
  }

  @Test func `A file with layers and a blank merged image is refused with the reason`() throws {
    let blank = error(PSDFile(layers: 2, version: Self.unreal).bytes)

    #expect(blank?.code == .unsupportedFormat && blank?.message.contains("without maximum compatibility") == true)
    for file in [PSDFile(version: Self.unreal), PSDFile(layers: 2, version: [0, 0, 0, 1, 1]), PSDFile(layers: 2)] {
      #expect(throws: Never.self) { try render(file.bytes) }
    }
  }

  @Test func `A plane after the colors is alpha only if the number of layers is negative`() throws {
    let alpha = try [nil, 1, -1].map { layers in
      try render(PSDFile(planes: 4, layers: layers).bytes).thumbnails[0].bytes[3]
    }
    #expect(alpha == [255, 255, UInt8(3 * 7 * 7)])
  }

  private static let contradictions: [(file: PSDFile, code: ImageError.Code)] = [
    (PSDFile(depth: 7), .decodeError), (PSDFile(depth: 1), .decodeError), (PSDFile(mode: 2, depth: 16), .decodeError),
    (PSDFile(planes: 2), .decodeError), (PSDFile(mode: 2), .decodeError), (PSDFile(compression: 4), .decodeError),
    (PSDFile(width: 0), .decodeError), (PSDFile(mode: 7), .unsupportedFormat),
  ]

  @Test(arguments: contradictions)
  private func `A header that makes no sense is an error`(file: PSDFile, code: ImageError.Code) {
    #expect(error(file.bytes)?.code == code)
  }

  @Test func `A header that declares a huge image is refused before anything is decoded`() {
    var header = PSDFile().bytes
    header.replaceSubrange(14..<22, with: PSDFile.number(30000, 4) + PSDFile.number(30000, 4))

    #expect(error(header)?.code == .tooManyPixels)
  }
}
