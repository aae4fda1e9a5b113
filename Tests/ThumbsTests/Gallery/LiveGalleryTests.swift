import Foundation
import ImageCache
import TestSupport
import Testing

@testable import BatchFetch
@testable import thumbs

@Suite struct LiveGalleryTests {
  private let directory: TemporaryDirectory
  private let clock = Stopwatch()
  private let reserved = ReservedFiles()
  private let live: LiveGallery

  init() throws {
    directory = try TemporaryDirectory()
    let file = try NamedFile(path: directory.path("page.html"))
    let place = try ReplacedFile(file, workplace: directory.path, as: .gallery, in: reserved)
    live = LiveGallery(title: "A & B", date: Date(timeIntervalSince1970: 0), place: place) { [clock] in clock.elapsed }
  }

  private func row(_ index: Int, name: String? = nil, url: String = "http://a.example/b.png") -> ManifestEntry {
    .row(ManifestRow(index: index, name: name, url: url))
  }

  private func page() throws -> String { try String(contentsOfFile: directory.path("page.html"), encoding: .utf8) }

  @Test func `The page shows rows before and after they finish, and says that it is not complete`() throws {
    live.expect(row(0, name: "First <1>"))
    live.expect(row(1, name: "Second"))
    live.expect(.bad(BadRow(index: 2, reason: "No.")))
    try live.tick()
    let before = try page()

    #expect(
      before.contains(#"{"i":0,"s":"waiting","n":"First \u003c1>","t":"a.example","u":"http://a.example/b.png"},"#))
    #expect(before.contains("Waiting <i>3</i>"))
    #expect(before.contains(">Running: 0 rows finished. This page is not complete.</p>"))
    #expect(before.contains("All <i>3</i>") && before.contains("Failed <i>0</i>"))

    live.setTotal(5)
    live.finish(Array(#"{"i":1,"n":"done"}"#.utf8), index: 1, .ok)
    clock.move(to: 2)
    try live.tick()
    let after = try page()

    #expect(after.contains("First \\u003c1>") && after.contains("\"done\"") && !after.contains("Second"))
    #expect(after.contains("Running: 1 of 5 rows finished.") && after.contains("Done <i>1</i>"))
    #expect(try directory.files() == ["page.html"])
  }

  @Test func `The page is not written more often than every second, nor after the end`() throws {
    for (second, isWritten) in [(0, true), (0, false), (1, false), (2, true), (2, false)] {
      clock.move(to: second)
      live.finish([], index: second, .ok)
      _ = try directory.write("", as: "page.html")
      try live.tick()
      #expect(try page().isEmpty == !isWritten, "\(second)")
    }
    live.end()
    clock.move(to: 100)
    _ = try directory.write("", as: "page.html")
    try live.tick()
    #expect(try page().isEmpty)
  }

  @Test func `The page of 100,000 rows is small, and says that it shows only a part`() throws {
    for index in 0..<100_000 { live.expect(row(index)) }
    for index in 0..<50_000 { live.finish([UInt8](repeating: 0x20, count: 20_000), index: index, .ok) }
    live.setTotal(100_000)
    try live.tick()

    let page = try page()
    #expect(page.utf8.count < 5 << 20)
    #expect(page.contains("Running: 50,000 of 100,000 rows finished."))
    #expect(page.contains("It shows the rows that finished last."))
  }

  @Test func `A card of a row that has not finished does not contain the credentials of its URL`() throws {
    let url = "https://me:secret@a.example/b.png"
    live.expect(row(0, url: url))
    live.expect(row(1, name: url, url: url))
    try live.tick()

    #expect(try !page().contains("secret"))
    #expect(try page().contains("https://***@a.example/b.png"))
  }

  @Test func `The page stays reserved when it is replaced, and its old file does not`() throws {
    let first = try #require(FileIdentity(path: directory.path("page.html")))
    reserved.insert(first, as: .gallery)
    var old: FileIdentity?
    for second in [0, 20, 40] {
      clock.move(to: second)
      try live.tick()
      let new = try #require(FileIdentity(path: directory.path("page.html")))

      #expect(new != old && new != first)
      #expect(reserved.role(of: new) == .gallery && reserved.role(of: first) == .gallery)
      if let old { #expect(reserved.role(of: old) == nil) }
      old = new
    }
  }

  @Test func `A later run may replace the page of a killed one`() throws {
    try live.tick()

    #expect(try GeneratedFile.gallery.mayReplace(NamedFile(path: directory.path("page.html"))))
  }

  @Test func `The page may load itself into a frame, and runs only its own script`() throws {
    try live.tick()
    let page = try page()
    let script = try #require(page.firstMatch(of: #/<script>((?s).*)<\/script>/#)?.1)
    let digest = "\(BodyDigest(of: Array(script.utf8)))"
    let bytes = stride(from: 0, to: digest.count, by: 2).compactMap {
      UInt8(digest.dropFirst($0).prefix(2), radix: 16)
    }

    #expect(page.contains("script-src &#39;sha256-\(Data(bytes).base64EncodedString())&#39;"))
    #expect(page.contains("frame-src &#39;self&#39; file:;"))
    #expect(page.ranges(of: "<script>").count == 1)
  }
}
