import Foundation
import TestSupport
import Testing

/// The commands that people type first, before they have read any help.
@Suite("thumbs fetch: first guesses", .timeLimit(.minutes(20))) struct FirstGuessTests {
  private static let photo = SampleImage.jpeg(width: 400, height: 300)

  private func fixture() throws -> CommandFixture {
    try CommandFixture { request in
      request.target.hasSuffix(".jpg") ? .http(200, ["Content-Type": "image/jpeg"], Self.photo) : .http(404)
    }
  }

  @Test(
    arguments: [
      (["--name-template", "cover.png"], "thumbs/cover.png", [0x89, 0x50]),
      (["--name", "small.jpg", "-o", "out"], "out/small.jpg", [0xFF, 0xD8]),
      (["--format", "WEBP", "-o", "out"], "out/photo.webp", [0x52, 0x49]),
    ] as [([String], String, [UInt8])])
  func `One image gets the name and the format that are typed`(
    options: [String], path: String, start: [UInt8]
  ) async throws {
    let fixture = try fixture()

    let result = try await fixture.start([fixture.server.url("/photo.jpg"), "--no-cache"] + options).result()

    #expect(result.ending == .exit(0), "\(result.errors)")
    #expect(try Array(fixture.data(path)).starts(with: start))
  }

  @Test func `A name without fields is refused for several images`() async throws {
    let fixture = try fixture()
    let urls = ["/a.jpg", "/b.jpg"].map(fixture.server.url)

    let result = try await fixture.start(urls + ["--name-template", "cover.jpg"]).result()

    #expect(result.ending == .exit(64) && result.errors.contains("every image would get the same name"))
  }

  @Test(arguments: [
    (["-q", "70"], "If it is a quality, use --quality 70; for a size, -s 70."),
    (["-f", "webp"], "Did you mean '--format NAME'? To replace files that thumbs did not make, use --overwrite."),
    (["--max-size", "20KB"], "For the bytes of each thumbnail, use --max-output-bytes."),
    (["--max-file-size", "20KB"], "Did you mean '--max-output-bytes SIZE'?"),
  ])
  func `A wrong option is an error that names the right one`(options: [String], advice: String) async throws {
    let fixture = try fixture()

    let result = try await fixture.start([fixture.server.url("/photo.jpg")] + options).result()

    #expect(result.ending == .exit(64) && result.errors.contains(advice), "\(result.errors)")
  }

  @Test(arguments: [
    ("Name;Image URL\nx;@\n", "list.csv"), ("id\timg\n1\t@\n", "list.tsv"), ("SKU,Photo,Link\n1,@,x\n", "a.csv"),
    ("[{\"id\": 1, \"imageUrl\": \"@\"}]", "list.json"), ("{\"id\": 1, \"image_url\": \"@\"}\n", "list.jsonl"),
    ("id,link\n1,@\n", "links.csv"),
  ])
  func `A column with a usual name has the URLs`(text: String, name: String) async throws {
    let fixture = try fixture()
    _ = try fixture.directory.write(text.replacing("@", with: fixture.server.url("/photo.jpg")), as: name)

    let result = try await fixture.fetch(name)

    #expect(result.ending == .exit(0), "\(result.errors)")
    #expect(try fixture.outputs() == ["photo.jpg"])
  }

  @Test func `With two candidates, the columns are listed`() async throws {
    let fixture = try fixture()
    _ = try fixture.directory.write("photo,thumb\nx,y\n", as: "list.csv")
    _ = try fixture.directory.write("[{\"photo\": \"x\", \"thumb\": \"y\"}]", as: "list.json")

    let table = try await fixture.fetch("list.csv")
    #expect(table.errors.contains("name the URL column with --url-column, one of photo, thumb"))
    let objects = try await fixture.fetch("list.json")
    #expect(objects.errors.contains("no icon, url, image or src; the row has photo, thumb"), "\(objects.errors)")
    #expect(objects.errors.contains("--url-column KEY names the column of the URL."))
  }

  @Test func `The summary has an example and a remedy of the commonest causes`() async throws {
    let fixture = try fixture()
    let rows = ["a.png", "b.png", "file:///etc/hostname"] + ["/1", "/1", "/1", "/photo.jpg"].map(fixture.server.url)
    _ = try fixture.directory.write(rows.joined(separator: "\n"), as: "list.txt")

    let result = try await fixture.fetch("list.txt")

    #expect(result.ending == .exit(1))
    let expected = """
        failed: 3 http_404, 2 bad_url, 1 blocked_scheme
          http_404: \(fixture.server.url("/1")): The server responded with status 404.
          bad_url: The URL is not absolute: "a.png"
            --base URL resolves relative URLs; --allow-file takes them as files next to the list.
          blocked_scheme: file:///etc/hostname: Reading local files is not allowed.
            --allow-file lets lists name local files.
      """
    let causes = expected.split(separator: "\n").map { $0.drop { $0 == " " } }
    let lines = result.errors.split(separator: "\n").map { $0.drop { $0 == " " } }
    #expect(Array(lines.suffix(causes.count)).map(String.init).sorted() == causes.map(String.init).sorted())
    #expect(lines.count <= 9)
  }

  @Test func `A limit of bytes lowers the quality, and PNG fails`() async throws {
    let fixture = try fixture()
    let url = fixture.server.url("/photo.jpg")
    #expect(try await fixture.fetch(url, "-s", "300").ending == .exit(0))
    let usual = try fixture.output("photo.jpg").count
    let limit = usual * 2 / 3

    #expect(try await fixture.fetch(url, "-s", "300", "--max-output-bytes", "\(limit)B").ending == .exit(0))
    let small = try fixture.output("photo.jpg").count
    #expect(small <= limit && small > limit * 3 / 4, "\(usual) \(small)")

    let png = try await fixture.fetch(url, "-s", "300", "--max-output-bytes", "\(limit)B", "--format", "png")
    #expect(png.ending == .exit(1) && png.errors.contains("output_too_large"), "\(png.errors)")
  }
}

/// Reports as tables for spreadsheets.
@Suite("thumbs: tables of reports", .timeLimit(.minutes(20))) struct ReportTableTests {
  @Test(arguments: ["csv", "TSV"]) func `A report is a table if its name says so`(name: String) async throws {
    let fixture = try CommandFixture { $0.target == "/a.png" ? .icon() : .http(404) }
    let list = "name,url\n\"=1+1,\"\"x\"\"\",\(fixture.server.url("/a.png"))\nb,\(fixture.server.url("/b.png"))\n"
    _ = try fixture.directory.write(list, as: "list.csv")
    let arguments = ["list.csv", "-s", "8,16", "--no-cache", "-j1", "--report"]

    for _ in 1...2 {
      let result = try await fixture.start(arguments + ["r.\(name)"]).result()
      #expect(result.ending == .exit(1), "\(result.errors)")
    }
    let json = try await fixture.start(arguments + ["r.jsonl"]).result()
    #expect(json.ending == .exit(1))
    let export = ["report", "export", "r.jsonl", "--format", name.lowercased()]
    let exported = try await fixture.start(export).result()

    let table = try fixture.text("r.\(name)")
    // The rows are in the order in which they end.
    let lines = table.split(whereSeparator: \.isNewline).sorted {
      ($0.first == "0" ? 1 : $0.first == "1" ? 2 : 0) < ($1.first == "0" ? 1 : $1.first == "1" ? 2 : 0)
    }
    let separator: Character = name == "csv" ? "," : "\t"
    #expect(lines.count == 3 && lines[0].hasSuffix("download_ms\(separator)final_url"))
    let first = lines[1].split(separator: separator, omittingEmptySubsequences: false)
    #expect(first[...1] == ["0", "ok"] && first.contains("a-8x8.png | a-16x16.png"))
    #expect(lines[1].contains(name == "csv" ? "\"'=1+1,\"\"x\"\"\"" : "'=1+1,\"x\""))
    #expect(lines[2].contains("http_404") && lines[2].contains("The server responded with status 404."))
    #expect(
      exported.output.split(whereSeparator: \.isNewline).count == 3
        && exported.output.contains("a-8x8.png | a-16x16.png"))
    let bytes = try Array(fixture.data("r.\(name)"))
    #expect(bytes.starts(with: (name == "csv" ? "\u{FEFF}index,status," : "index\tstatus").utf8))
  }

  @Test func `A table does not replace a file of another program`() async throws {
    let fixture = try CommandFixture()
    _ = try fixture.directory.write("id,price\n", as: "prices.csv")

    let result = try await fixture.start([fixture.server.url("/a.png"), "--report", "prices.csv"]).result()

    #expect(result.ending == .exit(73))
    #expect(try fixture.text("prices.csv") == "id,price\n")
  }
}
