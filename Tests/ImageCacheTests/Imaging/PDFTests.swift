import Foundation
import TestSupport
import Testing

@testable import ImageCache

/// A small document, each page of which is filled with a color.
private struct PDFFile {
  /// The colors of the pages, as operands of `rg`.
  var pages = ["1 0 0", "0 1 0", "0 0 1"]
  /// More entries of each page.
  var attributes = "/MediaBox[0 0 80 40]"

  var bytes: [UInt8] {
    let kids = pages.indices.map { "\(3 + 2 * $0) 0 R" }.joined(separator: " ")
    var objects = ["<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[\(kids)]/Count \(pages.count)>>"]
    for (index, color) in pages.enumerated() {
      let content = "\(color) rg -100 -100 999 999 re f"
      objects.append("<</Type/Page/Parent 2 0 R\(attributes)/Contents \(4 + 2 * index) 0 R/Resources<<>>>>")
      objects.append("<</Length \(content.utf8.count)>>stream\n\(content)\nendstream")
    }
    return Self.file(of: objects)
  }

  /// Returns a file with a table of cross-references (ISO 32000-1, section 7.5.4).
  private static func file(of objects: [String]) -> [UInt8] {
    var (file, table) = ("%PDF-1.7\n", "xref\n0 \(objects.count + 1)\n0000000000 65535 f \n")
    for (index, object) in objects.enumerated() {
      let offset = "\(file.utf8.count)"
      table += String(repeating: "0", count: 10 - offset.utf8.count) + "\(offset) 00000 n \n"
      file += "\(index + 1) 0 obj\n\(object)\nendobj\n"
    }
    let start = file.utf8.count
    return Array("\(file)\(table)trailer\n<</Size \(objects.count + 1)/Root 1 0 R>>\nstartxref\n\(start)\n%%EOF\n".utf8)
  }
}

@Suite(
  .timeLimit(.minutes(10)), .decoderLibraries,
  .disabled(if: Sanitizer.isOn, "The sandbox stops a program with a sanitizer."))
struct PDFTests {
  private static let spec = ThumbnailSpec(width: 20, height: 20, format: .rgba)

  private func render(_ file: [UInt8], page: Int = 1, _ spec: ThumbnailSpec = spec) throws -> Renderer.Rendering {
    var renderer = Renderer(isolation: .patient)
    renderer.page = page
    return try renderer.render(file, specs: [spec])
  }

  private func error(_ file: [UInt8], page: Int = 1) -> ImageError? {
    #expect(throws: ImageError.self) { try render(file, page: page) }
  }

  /// Returns the only color of the thumbnail.
  private func color(_ rendering: Renderer.Rendering) throws -> [UInt8] {
    let samples = try #require(rendering.thumbnails.first).bytes
    let colors = Set(stride(from: 0, to: samples.count, by: 4).map { Array(samples[$0..<$0 + 4]) })
    #expect(colors.count == 1)
    return try #require(colors.first)
  }

  @Test(arguments: [(1, [255, 0, 0, 255]), (2, [0, 255, 0, 255]), (3, [0, 0, 255, 255])] as [(Int, [UInt8])])
  func `The chosen page is drawn, the first one by default`(page: Int, color: [UInt8]) throws {
    let rendering = try render(PDFFile().bytes, page: page)

    #expect(try self.color(rendering) == color)
    #expect(rendering.source.format == .pdf && rendering.source.size == PixelSize(width: 80, height: 40))
  }

  @Test func `A page after the last one is an error with its own code`() {
    #expect(error(PDFFile().bytes, page: 4)?.code == .noPage)
    #expect(error(PDFFile().bytes, page: 4)?.message.contains("there are 3 pages, and page 4 is wanted") == true)
    #expect(error(PDFFile(pages: []).bytes)?.code == .decodeError)
  }

  @Test(arguments: [
    ("/MediaBox[0 0 80 40]/Rotate 90", 40, 80), ("/MediaBox[0 0 80 40]/CropBox[10 10 40 25]", 30, 15),
    ("/MediaBox[0 0 80 40]/UserUnit 2", 80, 40), ("/MediaBox[0 0 200000 100000]", 14142, 7071),
  ])
  func `The page has the size of its crop box, turned, within the limits`(
    attributes: String, width: Int, height: Int
  ) throws {
    let rendering = try render(PDFFile(attributes: attributes).bytes)

    #expect(rendering.source.size == PixelSize(width: width, height: height))
  }

  @Test func `A page is drawn at the size of the thumbnail, even if that is larger`() throws {
    let spec = ThumbnailSpec(width: 300, height: 300, format: .rgba)
    let rendering = try render(PDFFile().bytes, spec)

    #expect(rendering.thumbnails.first?.size == PixelSize(width: 300, height: 150))
  }

  @Test func `A document that is cut anywhere is truncated, and one with padding is whole`() throws {
    let file = PDFFile().bytes

    for end in (5..<file.count - 2).cutPositions(count: 40) {
      #expect(error(Array(file.prefix(end)))?.code == .truncated, "\(end)")
    }
    #expect(try color(render(file + Array(repeating: 0, count: 5000))) == [255, 0, 0, 255])
  }

  @Test func `Without the program, the error names its package`() {
    var isolation = DecoderIsolation.patient
    isolation.documentProgram = ""
    let error = #expect(throws: ImageError.self) {
      try Renderer(isolation: isolation).render(PDFFile().bytes, specs: [Self.spec])
    }

    #expect(
      error?.code == .unsupportedFormat && error?.message.contains("install the package thumbs-decode-pdf") == true)
  }
}
