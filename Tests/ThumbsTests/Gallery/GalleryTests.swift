import Foundation
import ImageCache
import TestSupport
import Testing

@testable import BatchFetch
@testable import thumbs

/// Returns the report line of a row that failed.
private func failedLine(
  _ index: Int = 0, name: String? = "Lost", url: String = "http://a.example/b.png", code: FailureCode = .http(404),
  message: String = "The server responded with status 404."
) -> ReportLine {
  ReportLine(ManifestRow(index: index, name: name, url: url), .failed(FetchFailure(code, message)))
}

/// Returns the report line of a row with thumbnails whose longer sides are `sides`, in files named after them.
private func doneLine(_ index: Int = 0, name: String? = "Found", sides: [Int] = [256]) -> ReportLine {
  let thumbnails = sides.map { side in
    Thumbnail(
      spec: ThumbnailSpec(width: side, height: side), size: PixelSize(width: side, height: side / 2), format: .png,
      bytes: [UInt8(side & 0xFF)])
  }
  let set = ThumbnailSet(
    origin: .network, thumbnails: thumbnails,
    source: SourceImage(size: PixelSize(width: 640, height: 320), format: .jpeg), sourceBytes: 1,
    digest: BodyDigest(of: [1]), attempts: 1,
    timings: Timings(), warnings: [])
  let outputs = thumbnails.map { ReportLine.Output($0, path: "a \($0.size.width)#.png") }
  return ReportLine(ManifestRow(index: index, name: name, url: "http://a.example/b.png"), .done(set, outputs))
}

/// Returns the data of a row, as the page has it and as its script reads it.
private func card(
  _ line: ReportLine, subtitle: String? = nil, images: GalleryImages = .files(directory: "out/")
) throws -> (text: String, object: [String: Any]) {
  let json = GalleryCard(line, subtitle: subtitle, images: images).json
  return (String(decoding: json, as: UTF8.self), try object(json))
}

private func object(_ json: [UInt8]) throws -> [String: Any] {
  try #require(JSONSerialization.jsonObject(with: Data(json)) as? [String: Any])
}

/// Returns the rows in a page.
func galleryRows(in page: String) throws -> [[String: Any]] {
  let data = try #require(page.firstMatch(of: #/<script type=application\/json id=rows>((?s).*?)<\/script>/#)?.1)
  return try #require(JSONSerialization.jsonObject(with: Data(data.utf8)) as? [[String: Any]])
}

@Suite struct GalleryCardTests {
  @Test(arguments: [
    "<script>alert(1)</script>", "\"><img src=x>", "' onclick='x", "</script></html>", "<!-- x", "a\u{0}\u{1B}[31mb",
    "\u{85}", "]]>", "\\\"", "\u{2028}",
  ])
  func `Text cannot end the element that holds it, and comes out as it was`(text: String) throws {
    let line = failedLine(name: text, url: "http://a.example/" + text, message: text)
    let (json, object) = try card(line, subtitle: text)
    #expect(!json.contains("<") && !json.contains("\n"))
    let shown = String(
      String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.generalCategory == .control ? "\u{FFFD}" : $0 }))
    #expect(object["n"] as? String == shown && object["t"] as? String == shown && object["r"] as? String == shown)
    #expect(object["u"] as? String == "http://a.example/" + shown)
  }

  @Test func `The URL of a thumbnail escapes special characters in its file name`() throws {
    #expect(try card(doneLine()).object["f"] as? String == "out/a%20256%23.png")
    #expect("javascript:x/ä?é\"<".percentEncodedPath == "javascript%3Ax/%C3%A4%3F%C3%A9%22%3C")
    #expect(try card(doneLine(), images: .embedded).object["f"] as? String == "data:image/png;base64,AA==")
  }

  @Test(arguments: [
    ([64, 256, 512], 512, 512), ([512, 256, 64], 512, 512), ([16, 64], 64, 64), ([1024], 1024, 1024),
    ([256, 2048], 256, 2048),
  ])
  func `The grid has the largest thumbnail that fits, and the large view the largest`(
    sides: [Int], shown: Int, large: Int
  ) throws {
    let object = try card(doneLine(sides: sides)).object
    #expect(object["w"] as? Int == shown && object["h"] as? Int == shown / 2)
    #expect(object["lw"] as? Int == (large == shown ? nil : large))
    #expect(object["p"] as? String == "a \(large)#.png")
  }

  @Test(arguments: [([64, 256, 512], 256), ([512, 256, 64], 256), ([16, 64], 64), ([1024], 1024)])
  func `A page with its own images has the smallest thumbnail that looks sharp`(sides: [Int], shown: Int) throws {
    let object = try card(doneLine(sides: sides), images: .embedded).object
    #expect(object["w"] as? Int == shown && object["l"] == nil)
  }

  @Test func `A card without a name shows the last part of the URL, and the host without a subtitle`() throws {
    let object = try card(failedLine(name: nil)).object
    #expect(object["n"] as? String == "b" && object["t"] as? String == "a.example")
    #expect(try card(failedLine(), subtitle: "12,000 downloads").object["t"] as? String == "12,000 downloads")
  }

  @Test func `A card has the facts of its image in words`() throws {
    let object = try card(doneLine()).object
    #expect(object["d"] as? String == "640 × 320 JPEG, 1 B" && object["o"] as? String == "the server")
    #expect(object["z"] as? Int == 1 && object["m"] as? Int == 0 && object["c"] == nil && object["x"] == nil)
    let failed = try card(failedLine()).object
    #expect(failed["c"] as? String == "http_404" && failed["s"] as? String == "failed" && failed["f"] == nil)
  }

  @Test func `A card does not contain the credentials of its URL`() throws {
    #expect(try !card(failedLine(url: "https://me:secret@a.example/b.png")).text.contains("secret"))
  }
}

@Suite struct GalleryWriterTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    try FileManager.default.createDirectory(atPath: directory.path("out"), withIntermediateDirectories: true)
  }

  private func writer(_ path: String = "page.html", output: String = "out") throws -> GalleryWriter {
    let file = try NamedFile(path: directory.path(path))
    let date = Date(timeIntervalSince1970: 1_800_000_000)
    return try GalleryWriter(file, title: "A & B", date: date, outputDirectory: directory.path(output))
  }

  @Test func `A large page of embedded thumbnails gives one warning with a remedy, a page of links none`() throws {
    func warnings(_ path: String) throws -> [String] {
      let file = try NamedFile(path: directory.path(path))
      let writer = try GalleryWriter(
        file, title: "A", outputDirectory: directory.path("out"), size: EmbeddedSize(limit: 1200))
      return try (0..<9).compactMap { try writer.append(doneLine($0), subtitle: nil) }
    }
    try FileManager.default.createDirectory(atPath: directory.path("other"), withIntermediateDirectories: true)

    #expect(try warnings("page.html").isEmpty)
    let embedded = try warnings("other/page.html")
    #expect(embedded.count == 1)
    #expect(embedded.first?.hasSuffix("--gallery \(directory.path("out"))/page.html") == true)
  }

  @Test func `The size of a page is reported when it becomes large`() {
    var size = EmbeddedSize(limit: 100)
    #expect([60, 39, 1, 500].map { size.add($0) } == [nil, nil, ByteSize(count: 100), nil])
  }

  private func page(_ path: String = "page.html") throws -> String {
    try String(contentsOfFile: directory.path(path), encoding: .utf8)
  }

  @Test func `Cards added in any order are written in the order of their rows`() throws {
    let writer = try writer()
    var generator = SeededGenerator(seed: 7)
    let indexes = (0..<10_000).filter { $0 != 5000 }
    for row in indexes.shuffled(using: &generator) {
      try writer.append(row % 3 == 0 ? failedLine(row) : doneLine(row), subtitle: nil)
    }
    try writer.finish()
    let page = try page()

    #expect(try galleryRows(in: page).map { $0["i"] as? Int } == indexes)
    #expect(page.contains("<h1 dir=auto>A &amp; B</h1><p><time datetime=\"2027-01-15T08:00:00Z\">"))
    #expect(
      page.contains("Done <i>6,665</i>") && page.contains("Failed <i>3,334</i>") && !page.contains("Canceled <i>"))
  }

  @Test(.timeLimit(.minutes(20))) func `A row may have any index`() throws {
    let writer = try writer()
    let indexes = [Int.max, 3, 1_000_000_000_000, Int.max - 1, 0, 1 << 40, Int.max]
    for row in indexes { try writer.append(failedLine(row, name: row == 3 ? "late" : nil), subtitle: nil) }
    try writer.append(failedLine(3, name: "later"), subtitle: nil)
    try writer.finish()
    let page = try page()

    #expect(try galleryRows(in: page).map { $0["i"] as? Int } == Set(indexes).sorted())
    #expect(page.contains("\"later\"") && !page.contains("\"late\""))

    let nameless = GalleryCard(ReportLine(BadRow(index: .max, reason: "No.")), subtitle: nil, images: .embedded)
    #expect(nameless.title == "Row 9223372036854775808")
  }

  @Test func `The final page does not depend on the page during the run, and replaces it`() throws {
    let pages = try [false, true].map { isLive in
      let writer = try writer()
      if isLive { try writer.start { Issue.record($0) } }
      for row in 0..<100 { writer.expect(.row(ManifestRow(index: row, url: "http://a.example/b.png"))) }
      for row in 0..<100 { try writer.append(row % 3 == 0 ? failedLine(row) : doneLine(row), subtitle: nil) }
      writer.setTotal(100)
      if isLive { #expect(try page().contains("This page is not complete.")) }
      try writer.finish()
      return try page()
    }
    #expect(pages[0] == pages[1])
    #expect(!pages[1].contains("id=run") && !pages[1].contains("iframe") && !pages[1].contains("frame-src"))
    #expect(try directory.files() == ["out", "page.html"])
  }

  @Test func `Without a start, an older page stays until the new one is complete`() throws {
    _ = try directory.write("old", as: "page.html")
    let writer = try writer()
    try writer.append(doneLine(), subtitle: nil)

    #expect(try page() == "old")
    #expect(try directory.files() == ["out", "page.html"])

    try writer.finish()
    #expect(try page().contains("Found"))
    #expect(try directory.files() == ["out", "page.html"])
  }

  @Test func `A gallery without rows is a page`() throws {
    try writer().finish()
    #expect(try page().contains("All <i>0</i>") && galleryRows(in: page()).isEmpty)
  }

  @Test(arguments: [
    ("page.html", "out", GalleryImages.files(directory: "out/")), ("out/page.html", "out", .files(directory: "")),
    ("out/page.html", ".", .embedded), ("page.html", "link", .files(directory: "out/")),
  ])
  func `A gallery refers to thumbnails in or below its directory and embeds the others`(
    page: String, output: String, expected: GalleryImages
  ) throws {
    try FileManager.default.createSymbolicLink(atPath: directory.path("link"), withDestinationPath: "out")
    let parent = URL(fileURLWithPath: directory.path(page)).deletingLastPathComponent().path

    #expect(GalleryImages(of: directory.path(output), from: parent) == expected)
  }

  @Test func `A page that cannot be written is an error before anything is fetched`() throws {
    for path in ["none/page.html", "out"] {
      #expect(throws: OutputError.self) { try writer(path) }
    }
  }
}
