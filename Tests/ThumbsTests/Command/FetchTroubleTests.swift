import Foundation
import TestSupport
import Testing

@Suite("thumbs fetch: failures", .timeLimit(.minutes(20))) struct FetchTroubleTests {
  private static let photo = SampleImage.jpeg(width: 200, height: 150)

  /// The server's responses to the bad paths; it responds to all others with an icon.
  private static let troubles: [String: ServerReply] = [
    "/cut.jpg": ServerReply([
      .send(ServerReply.head(200, ["Content-Length": "\(photo.count)"]) + photo[..<(photo.count / 2)]), .close,
    ]),
    "/page.png": .http(200, ["Content-Type": "image/png"], Array("<!doctype html><title>Log in</title>".utf8)),
    "/gone.png": .http(404),
    "/huge.png": .http(200, [:], SampleImage.pngHeader(width: 60000, height: 60000)),
  ]

  private static func fixture() throws -> CommandFixture {
    try CommandFixture { troubles[$0.target] ?? .icon() }
  }

  @Test func `Each failure has its own code, and a retryable one makes the exit code 75`() async throws {
    let fixture = try Self.fixture()
    var paths = Self.troubles.keys.sorted().flatMap { [$0, "/good\($0.dropFirst())"] }
    var text = paths.map { fixture.server.url($0) + "\n" }.joined()
    // Nobody listens on port 1.
    text += "http://127.0.0.1:1/refused.png\n"
    paths.append("/refused.png")
    let list = try fixture.directory.write(text, as: "list.txt")

    let result = try await fixture.fetch(list)

    #expect(result.ending == .exit(75))

    let report = try fixture.report()
    #expect(report.count == paths.count)

    let codes = zip(paths, report).map { "\($0) \($1.code ?? $1.status) \($1.retryable ?? false)" }
    #expect(
      codes == [
        "/cut.jpg truncated true", "/goodcut.jpg ok false", "/gone.png http_404 false", "/goodgone.png ok false",
        "/huge.png too_many_pixels false", "/goodhuge.png ok false", "/page.png not_an_image false",
        "/goodpage.png ok false", "/refused.png connect_failed true",
      ])
    #expect(try fixture.outputs() == report.flatMap(\.paths).sorted())
    for path in report.flatMap(\.paths) { #expect(ImageFile(try fixture.output(path)) != nil) }

    let listing = try await fixture.cacheCommand("ls", "--format", "tsv").output
    let bad = listing.split(separator: "\n").filter { line in Self.troubles.keys.contains { line.hasSuffix($0) } }
    // Lasting failures are cached. Temporary failures and those that depend on an option are not.
    let kept = Dictionary(
      uniqueKeysWithValues: bad.map { line in
        (String(line[(line.lastIndex(of: "/") ?? line.startIndex)...]), String(line.split(separator: "\t")[1]))
      })

    #expect(kept == ["/gone.png": "failed", "/page.png": "failed"])
    #expect(listing.split(separator: "\n").count { $0.contains("\tfresh\t") } == 4)
  }

  @Test func `A server that sends long texts does not make long reports`() async throws {
    let odd = String(repeating: "\u{301}@\u{85}<", count: 14_000)
    let near = "/?" + String(repeating: "%", count: 2700)
    let fixture = try CommandFixture { request in
      switch request.target {
      case "/odd.png": .http(302, ["Location": odd])
      case "/good.png": .icon(fields: ["ETag": "\"\(odd)\"", "X-Odd": odd])
      case "/page.png": .http(200, [:], Array("<html><title>\(odd)".utf8))
      default: .http(302, ["Location": near + "&\(request.target.utf8.count % 10)"])
      }
    }
    let list = try fixture.list(["/odd.png", "/near.png", "/page.png", "/good.png"])

    let result = try await fixture.fetch(list, "--max-redirects", "65535", "--verbose")

    #expect(try fixture.report().map(\.code) == ["bad_url", "too_many_redirects", "not_an_image", nil])
    let lines = try fixture.text("report.jsonl").split(separator: "\n")
    // Three short rows, one with all redirects, and the line that ends the report.
    #expect(lines.count == 5 && lines.allSatisfy { $0.utf8.count < 1 << 20 })
    #expect(lines.count { $0.utf8.count < 2000 } == 4)
    #expect(result.errors.utf8.count < 20_000)
  }

  @Test func `A file that cannot be written fails only its own row`() async throws {
    let fixture = try Self.fixture()
    let place = fixture.directory.path("out/bad.png/x")
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    let result = try await fixture.fetch(try fixture.list(["/good1.png", "/bad.png", "/good2.png"]))

    #expect(result.ending == .exit(1))
    #expect(try fixture.report().map { $0.code ?? $0.status } == ["ok", "output_failed", "ok"])
    #expect(try fixture.outputs() == ["bad.png", "good1.png", "good2.png"])
  }

  @Test func `Permanent failures alone make the exit code 1`() async throws {
    let fixture = try Self.fixture()
    let list = try fixture.list(["/good.png", "/page.png", "/gone.png", "/huge.png"])

    let result = try await fixture.fetch(list)

    #expect(result.ending == .exit(1))
    #expect(result.errors.contains("4 items: 1 ok, 3 failed"))
  }

  struct BadManifest: Sendable, CustomTestStringConvertible {
    let name: String
    /// The content of the file; nil if there is no file.
    let content: String?
    /// The expected message, apart from the name.
    let message: String
    var testDescription: String { name }
  }

  static let badManifests = [
    BadManifest(name: "missing.plist", content: nil, message: "there is no such file"),
    BadManifest(name: "notes.plist", content: "milk\neggs\n", message: ", line 1: not a valid plist"),
    BadManifest(name: "word.plist", content: "milk", message: "not a plist in XML or binary form"),
    BadManifest(
      name: "torn.plist", content: "<?xml version=\"1.0\"?>\n<plist version=\"1.0\">\n<array>\n<dict>\n",
      message: "line 4: the plist ends unexpectedly"),
    BadManifest(
      name: "crossed.plist", content: "<?xml version=\"1.0\"?>\n<plist>\n<array>\n<dict></array>\n</plist>",
      message: "line 4"),
    BadManifest(name: "damaged.plist", content: "bplist00 and no more", message: "damaged"),
    BadManifest(name: "object.plist", content: "<plist><dict/></plist>", message: "top level"),
    BadManifest(name: "list.json", content: "[\n  {\"icon\":\n]\n", message: "line 3, column 1: not valid JSON"),
    BadManifest(name: "torn.json", content: "[\n  \"http://a/\",\n", message: "line 2: the JSON ends unexpectedly"),
    BadManifest(name: "image.txt", content: "\u{89}PNG\r\n\u{1A}\n\0\0\0", message: "binary data"),
  ]

  @Test(arguments: badManifests)
  func `An unreadable manifest is reported in one line, and nothing is written`(bad: BadManifest) async throws {
    let fixture = try CommandFixture()
    if let content = bad.content { _ = try fixture.directory.write(content, as: bad.name) }
    let before = try fixture.directory.files()

    let result = try await fixture.fetch(bad.name)

    #expect(result.ending == .exit(65))
    #expect(result.output.isEmpty)
    #expect(result.errorLines.count == 1)
    #expect(result.errors.hasPrefix("thumbs: \(bad.name)") && result.errors.contains(bad.message))
    #expect(try fixture.directory.files() == before)
  }

  @Test(arguments: ["a-file/below", "a-file"])
  func `An output directory that cannot be created exits with 73 before any request`(path: String) async throws {
    let fixture = try CommandFixture()
    _ = try fixture.directory.write("", as: "a-file")
    let list = try fixture.list(["/a.png"])

    let result = try await fixture.run("fetch", list, "-o", path, "--cache-dir", fixture.cache)

    #expect(result.ending == .exit(73))
    #expect(result.errorLines.count == 1 && result.errors.contains(path))
    #expect(fixture.server.requests.isEmpty)
    #expect(try fixture.directory.files() == ["a-file", "list.txt"])
  }

  @Test(arguments: ["a-file/below", "a-file", "/proc/below"])
  func `A cache directory that cannot be created is a note with a remedy`(path: String) async throws {
    let fixture = try CommandFixture()
    _ = try fixture.directory.write("", as: "a-file")
    let url = fixture.server.url("/a.png")

    let result = try await fixture.run("fetch", url, "-o", "out", "--cache-dir", path, "--progress", "none")

    #expect(result.ending == .exit(0))
    let notes = result.errorLines.filter { $0.hasPrefix("thumbs: Cannot create the cache directory \(path): ") }
    let end = "; the disk cache is off. Choose another directory with --cache-dir, or none with --no-cache."
    #expect(notes.count == 1 && notes.allSatisfy { $0.hasSuffix(end) }, "\(result.errors)")
  }

  @Test func `With a limit of file sizes below that of the cache, images are fetched without it`() async throws {
    let fixture = try CommandFixture()
    let list = try fixture.list(["/a.png", "/b.png"])
    // 8 blocks of 512 bytes are less than a page of the database.
    let result = try await fixture.start(fixture.fetchArguments([list]), setup: "ulimit -f 8").result()

    #expect(result.ending == .exit(0), "\(result.errors)")
    #expect(try fixture.outputs() == ["a.png", "b.png"])
    #expect(result.errorLines.count { $0.contains("(ulimit -f)") } == 1, "\(result.errors)")
  }

  @Test(
    arguments: [
      (["--report", "r.jsonl"], 74), (["--gallery", "page.html"], 74),
      (["--metrics", "run.prom"], 74), ([], 75),
    ] as [([String], Int32)])
  func `A file above the limit of file sizes fails like one on a full disk`(
    options: [String], code: Int32
  ) async throws {
    let fixture = try Self.fixture()
    let list = try fixture.list((0..<30).map { "/\($0).png" })
    // The rows fail too, without the options: their thumbnails have more than 512 bytes.
    let arguments = ["fetch", list, "-o", "out", "-s", options.isEmpty ? "300" : "1", "--no-cache", "--enlarge"]
    let result = try await fixture.start(arguments + options, setup: "ulimit -f 1").result()

    #expect(result.ending == .exit(code), "\(result.errors)")
    let reason = options.last.map { "Cannot write \($0): File too large." } ?? "30 output_unavailable"
    #expect(result.errors.contains(reason), "\(result.errors)")
  }

  @Test func `Directories that are named through a missing one are created`() async throws {
    let fixture = try CommandFixture()
    let arguments = [
      "fetch", fixture.server.url("/a.png"), "-o", "new/../out", "--cache-dir", "missing/../cc", "--progress", "none",
    ]

    let result = try await fixture.start(arguments).result()

    #expect(result.ending == .exit(0) && result.errorLines.count == 2, "\(result.errors)")
    #expect(try fixture.outputs() == ["a.png"])
    #expect(try fixture.text("cc/CURRENT") == "g1\n")
  }

  @Test func `A report that cannot be created exits with 73 before anything is fetched`() async throws {
    let fixture = try CommandFixture()
    let list = try fixture.list(["/a.png"])

    let result = try await fixture.start(fixture.fetchArguments([list], report: "list.txt/report")).result()

    #expect(result.ending == .exit(73))
    #expect(result.errorLines.count == 1 && result.errors.contains("list.txt/report"))
    #expect(fixture.server.requests.isEmpty)
  }
}
