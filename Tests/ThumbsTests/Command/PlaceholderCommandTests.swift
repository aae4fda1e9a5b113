import Foundation
import ImageCache
import TestSupport
import Testing

@Suite("thumbs --placeholders", .timeLimit(.minutes(20))) struct PlaceholderCommandTests {
  private static let file = SampleImage.jpeg(width: 400, height: 300)

  private static func fixture() throws -> CommandFixture {
    try CommandFixture { request in
      request.target == "/gone.jpg" ? .http(404) : .http(200, ["Cache-Control": "max-age=3600"], file)
    }
  }

  /// Returns the placeholder that the library makes.
  private static func expected() throws -> [String: String] {
    let rendering = try Renderer().render(file, specs: [ThumbnailSpec(width: 256), .placeholder])
    let placeholder = try #require(rendering.thumbnails[1].placeholder)
    let color = try #require(placeholder.color)
    return ["thumbhash": placeholder.thumbHash.base64, "color": "#\(color)"]
  }

  /// Returns the member `placeholder` of each line of the report.
  private func placeholders(_ fixture: CommandFixture, _ report: String = "report.jsonl") throws -> [[String: String]?]
  {
    try fixture.text(report).split(separator: "\n").dropLast().map { line in
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      return object?["placeholder"] as? [String: String]
    }
  }

  @Test func `The report has the placeholder, and it is no output`() async throws {
    let fixture = try Self.fixture()
    let list = try fixture.list(["/a.jpg"])

    #expect(try await fixture.fetch(list).ending == .exit(0))
    #expect(try placeholders(fixture) == [nil])
    #expect(try await fixture.fetch(list, "--placeholders").ending == .exit(0))

    #expect(try placeholders(fixture) == [Self.expected()])
    #expect(try fixture.report()[0].paths == ["a.jpg"] && fixture.outputs() == ["a.jpg"])
  }

  @Test func `An entry without a placeholder gets one from the kept original, and then has it`() async throws {
    let fixture = try Self.fixture()
    let list = try fixture.list(["/a.jpg"])
    _ = try await fixture.fetch(list, "--keep-originals")

    _ = try await fixture.fetch(list, "--keep-originals", "--placeholders")
    let first = try placeholders(fixture)
    _ = try await fixture.fetch(list, "--placeholders", "--offline")

    #expect(try first == [Self.expected()] && placeholders(fixture) == first)
    #expect(try fixture.report()[0].origin == "disk" && fixture.server.requests.count == 1)
  }

  @Test func `A dry run and the names of files do not count the placeholder`() async throws {
    let fixture = try Self.fixture()
    let result = try await fixture.fetch("--placeholders", "-n", try fixture.list(["/a.jpg"]))

    #expect(result.output == "out/a.{ext}\t\(fixture.server.url("/a.jpg"))\n")
  }

  @Test func `A failed row has no placeholder, not even with a fallback, and gets one when it is retried`() async throws
  {
    let isThere = Gate()
    let fixture = try CommandFixture { _ in isThere.isOpen ? .http(200, [:], Self.file) : .http(503) }
    _ = try fixture.directory.write(SampleImage.png(width: 9, height: 9), as: "fallback.png")
    let list = try fixture.list(["/a.jpg"])

    _ = try await fixture.fetch(list, "--placeholders", "--fallback", "fallback.png")
    #expect(try placeholders(fixture) == [nil] && fixture.outputs() == ["a.png"])
    isThere.open()
    let retry = try await fixture.run("retry", "report.jsonl", "--cache-dir", fixture.cache)

    #expect(retry.ending == .exit(0))
    #expect(try placeholders(fixture) == [Self.expected()])
  }

  @Test func `The command cache show prints the placeholder, and counts it neither as thumbnail nor as body`()
    async throws
  {
    let fixture = try Self.fixture()
    _ = try await fixture.fetch(try fixture.list(["/a.jpg"]), "--placeholders", "--size", "16")
    let url = fixture.server.url("/a.jpg")
    let expected = try Self.expectedAlone()

    for command in ["show", "why"] {
      let json = try await fixture.cacheCommand(command, url, "--json").output
      let shown = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
      #expect(shown["placeholder"] as? [String: String] == expected)
      #expect((shown["thumbnails"] as? [[String: Any]])?.map { $0["spec"] as? String } == ["16x16"])
    }
    let line = "  placeholder  \(expected["thumbhash"] ?? ""), \(expected["color"] ?? "")\n"
    #expect(try await fixture.cacheCommand("show", url).output.contains(line))
    #expect(try await fixture.cacheCommand("ls").output.contains("16x16"))
    #expect(try await !fixture.cacheCommand("ls").output.contains("100x100"))
  }

  /// Returns the placeholder that is not made from a larger thumbnail.
  private static func expectedAlone() throws -> [String: String] {
    let rendering = try Renderer().render(file, specs: [ThumbnailSpec(width: 16), .placeholder])
    let placeholder = try #require(rendering.thumbnails[1].placeholder)
    return ["thumbhash": placeholder.thumbHash.base64, "color": placeholder.color.map { "#\($0)" } ?? ""]
  }

  @Test func `A worker reports the placeholder, and it has no body`() async throws {
    let fixture = try Self.fixture()
    let (ending, results) = try await fixture.work([fixture.row(1, "/a.jpg")], "--placeholders")

    let record = try #require(results.result("1"))
    #expect(ending == .exit(0) && record.bodies.count == 1)
    #expect((record.header["outputs"] as? [Any])?.count == 1)
    #expect(try record.header["placeholder"] as? [String: String] == Self.expectedAlone())
  }

  @Test func `The configuration file can switch it on`() async throws {
    let fixture = try Self.fixture()
    let path = try fixture.directory.write("placeholders = true\n", as: "config.toml")
    let arguments = fixture.fetchArguments([try fixture.list(["/a.jpg"])])

    _ = try await fixture.start(arguments, environment: ["THUMBS_CONFIG": path]).result()
    #expect(try placeholders(fixture) == [Self.expected()])
  }

  @Test func `A gallery shows the placeholder of an opaque image until its file has loaded`() async throws {
    let fixture = try CommandFixture {
      .http(200, [:], $0.target == "/a.jpg" ? Self.file : SampleImage.png(width: 64, height: 48))
    }
    let list = try fixture.list(["/a.jpg", "/translucent.png"])
    let blurs = {
      try galleryRows(in: fixture.text("page.html")).map { $0["b"] as? String ?? "" }
    }

    _ = try await fixture.fetch(list, "--gallery", "page.html")
    #expect(try blurs() == ["", ""])
    _ = try await fixture.fetch(list, "--gallery", "page.html", "--placeholders")

    let beginning = "data:image/png;base64,"
    let found = try blurs()
    #expect(found.map { $0.hasPrefix(beginning) } == [true, false])
    let file = try #require(Data(base64Encoded: String(found[0].dropFirst(beginning.count))))
    let image = try Renderer().render([UInt8](file), specs: [ThumbnailSpec(width: 16)]).source
    #expect(image.size == PixelSize(width: 16, height: 12) && image.format == .png)
  }
}
