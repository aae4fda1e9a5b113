import Foundation
import ImageCache
import TestSupport
import Testing

@Suite("thumbs --phash and thumbs report duplicates", .timeLimit(.minutes(20))) struct PerceptualHashCommandTests {
  private static let file = SampleImage.jpeg(width: 400, height: 300)

  private static func fixture() throws -> CommandFixture {
    try CommandFixture { request in
      request.target == "/gone.jpg" ? .http(404) : .http(200, ["Cache-Control": "max-age=3600"], file)
    }
  }

  /// Returns the hash that the library makes.
  private static func expected() throws -> String {
    let specs = [ThumbnailSpec(width: 256), .perceptualHash]
    return try #require(try Renderer().render(file, specs: specs).thumbnails[1].perceptualHash).description
  }

  /// Returns the member `phash` of each line of the report.
  private func hashes(_ fixture: CommandFixture) throws -> [String?] {
    try fixture.text("report.jsonl").split(separator: "\n").dropLast().map { line in
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      return object?["phash"] as? String
    }
  }

  @Test func `The report has the hash, and it is no output`() async throws {
    let fixture = try Self.fixture()
    let list = try fixture.list(["/a.jpg", "/gone.jpg"])

    _ = try await fixture.fetch(list)
    #expect(try hashes(fixture) == [nil, nil])
    _ = try await fixture.fetch(list, "--phash", "--placeholders")

    #expect(try Set(hashes(fixture)) == [Self.expected(), nil])
    #expect(try fixture.outputs() == ["a.jpg"] && fixture.requestCounts["/a.jpg"] == 2)
  }

  @Test func `An entry without a hash gets one from the kept original, and then has it, with a placeholder or without`()
    async throws
  {
    let fixture = try Self.fixture()
    let list = try fixture.list(["/a.jpg"])
    _ = try await fixture.fetch(list, "--keep-originals", "--placeholders")

    _ = try await fixture.fetch(list, "--keep-originals", "--placeholders", "--phash")
    let first = try hashes(fixture)
    _ = try await fixture.fetch(list, "--phash", "--offline")
    let second = try hashes(fixture)
    _ = try await fixture.fetch(list, "--placeholders", "--offline")

    #expect(try first == [Self.expected()] && second == first)
    #expect(try hashes(fixture) == [nil] && fixture.text("report.jsonl").contains("\"placeholder\":"))
    #expect(try fixture.report()[0].origin == "disk" && fixture.server.requests.count == 1)
  }

  @Test func `A retry, a worker and the command cache show have the hash, too`() async throws {
    let isThere = Gate()
    let fixture = try CommandFixture { _ in isThere.isOpen ? .http(200, [:], Self.file) : .http(503) }
    _ = try await fixture.fetch(try fixture.list(["/a.jpg"]), "--phash")
    #expect(try hashes(fixture) == [nil])
    isThere.open()
    #expect(try await fixture.run("retry", "report.jsonl", "--cache-dir", fixture.cache).ending == .exit(0))
    #expect(try hashes(fixture) == [Self.expected()])

    let url = fixture.server.url("/a.jpg")
    let json = try await fixture.cacheCommand("show", url, "--json").output
    let shown = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    #expect(try shown["phash"] as? String == Self.expected())
    #expect((shown["thumbnails"] as? [Any])?.count == 1)
    #expect(try await fixture.cacheCommand("show", url).output.contains("  phash        \(Self.expected())\n"))

    let results = try await fixture.work([fixture.row(1, "/a.jpg")], "--phash").1
    let record = try #require(results.result("1"))
    #expect(try record.bodies.count == 1 && record.header["phash"] as? String == Self.expected())
  }

  @Test func `Copies of an image in another size and quality are listed with the largest one`() async throws {
    let large = SampleImage.jpeg(width: 400, height: 300)
    let specs = [ThumbnailSpec(width: 200, format: .jpeg, quality: 40)]
    let small = try Renderer().render(large, specs: specs).thumbnails[0].bytes
    let other = SampleImage.jpeg(width: 90, height: 160, seed: 3)
    let fixture = try CommandFixture { request in
      .http(200, [:], ["/small.jpg": small, "/other.jpg": other][request.target] ?? large)
    }
    let list = try fixture.list(["/small.jpg", "/large.jpg", "/other.jpg", "/again.jpg"])
    _ = try await fixture.fetch(list, "--phash")

    let result = try await fixture.run("report", "duplicates", "report.jsonl")
    let lines = result.output.split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
    #expect(result.ending == .exit(0) && result.errors == "" && lines.count == 3)
    #expect(lines.map { $0[0] } == ["1", "1", "1"] && lines.prefix(2).map { $0[1] } == ["keep", "same"])
    #expect(lines.map { $0[2] } == ["400x300", "400x300", "200x150"])
    #expect(lines[0][3...] == ["\(large.count)", fixture.server.url("/large.jpg")])
    #expect(lines[2][4] == fixture.server.url("/small.jpg") && Int(lines[2][1]).map { (0...6).contains($0) } == true)

    let json = try await fixture.run("report", "duplicates", "--json", "report.jsonl").output
    let group = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    #expect(group["rows"] as? Int == 3 && (group["keep"] as? [String: Any])?["index"] as? Int == 1)
    #expect((group["others"] as? [[String: Any]])?.map { $0["index"] as? Int } == [3, 0])
  }

  @Test func `Rows without a hash are mentioned, and bad distances are refused`() async throws {
    let fixture = try Self.fixture()
    _ = try await fixture.fetch(try fixture.list(["/a.jpg", "/b.jpg", "/gone.jpg"]))

    let result = try await fixture.run("report", "duplicates", "report.jsonl")
    #expect(result.output.split(separator: "\n").count == 2)
    #expect(result.errors.hasPrefix("thumbs: 2 images have no hash in the report;"))
    for distance in ["-1", "17"] {
      let result = try await fixture.run("report", "duplicates", "--distance=\(distance)", "report.jsonl")
      #expect(result.ending == .exit(64))
    }
  }
}
