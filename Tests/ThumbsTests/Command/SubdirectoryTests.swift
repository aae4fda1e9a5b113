import Foundation
import TestSupport
import Testing

@Suite("thumbs fetch: subdirectories", .timeLimit(.minutes(20))) struct SubdirectoryTests {
  /// The paths of all files in the output directory.
  private func files(_ fixture: CommandFixture) throws -> [String] {
    let all = FileManager.default.enumerator(atPath: fixture.directory.path("out"))?.compactMap { $0 as? String } ?? []
    return all.filter { $0.hasSuffix(".png") || $0.hasSuffix(".tmp") }.sorted()
  }

  @Test func `Thousands of rows are spread over subdirectories, and the second run changes no file`() async throws {
    let fixture = try CommandFixture()
    let list = try fixture.list((0..<4000).map { "/\($0 % 2).png?\($0)" })
    let options = ["--name", "{hash:2}/{hash}.{ext}", "--summary", "summary.json", "--gallery", "out/page.html"]

    let out = fixture.directory.path("out")
    try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: true)

    for round in 1...2 {
      let result = try await fixture.start(fixture.fetchArguments([list] + options)).result()
      #expect(result.ending == .exit(0), "\(result.errors)")
      let counts = try fixture.object("summary.json")["files"] as? [String: Int]
      #expect(counts == ["written": round == 1 ? 4000 : 0, "unchanged": round == 1 ? 0 : 4000])
    }

    let paths = try fixture.report().flatMap(\.paths)
    #expect(try paths.sorted() == files(fixture) && Set(paths).count == 4000)
    #expect(paths.allSatisfy { $0.split(separator: "/").count == 2 && $0.hasPrefix($0.suffix(12).prefix(2)) })
    #expect(Set(paths.map { $0.prefix(3) }).count == 256)
    let shown = try galleryRows(in: fixture.text("out/page.html")).map { $0["f"] as? String }
    #expect(shown == paths)
  }

  @Test func `A retry writes into the same subdirectories`() async throws {
    let isHealthy = Gate()
    let fixture = try CommandFixture { _ in isHealthy.isOpen ? .icon() : .http(503) }
    let list = try fixture.list(["/a/x.png", "/b/x.png"])
    let options = ["--size", "8", "--size", "16", "--name", "{spec}/{stem}.{ext}"]

    #expect(try await fixture.start(fixture.fetchArguments([list] + options)).result().ending == .exit(75))

    isHealthy.open()
    let again = ["retry", "report.jsonl", "--report", "second.jsonl", "--cache-dir", fixture.cache]
    #expect(try await fixture.start(again).result().ending == .exit(0))

    let retried = try ReportedRow.all(in: fixture.text("second.jsonl")).map(\.paths)
    #expect(try await fixture.start(fixture.fetchArguments([list] + options)).result().ending == .exit(0))
    #expect(try fixture.report().map(\.paths) == retried)
    #expect(try files(fixture) == retried.joined().sorted() && retried[0] == ["8x8/x.png", "16x16/x.png"])
  }

  @Test func `The folders of the URLs are mirrored, and one side of the size may be left out`() async throws {
    let fixture = try CommandFixture()
    let list = try fixture.list(["/icons/large/a.png", "/icons/small/a.png", "/b.png", "/icons/%2e%2e/../c.png"])
    let options = ["-x", "--size", "8x", "--size", "x6", "--format", "PNG"]
    let result = try await fixture.start(fixture.fetchArguments([list] + options)).result()

    #expect(result.ending == .exit(0), "\(result.errors)")
    let stems = ["icons/large/a", "icons/small/a", "b", "c"]
    #expect(try fixture.report().map(\.paths) == stems.map { ["127.0.0.1/\($0)-8x.png", "127.0.0.1/\($0)-x6.png"] })
    #expect(try files(fixture).count == 8)

    let both = try await fixture.start(fixture.fetchArguments([list, "-x", "--name", "{path}.{ext}"])).result()
    #expect(both.ending == .exit(64) && both.errors.contains("--mirror and --name-template cannot be used together"))
  }

  @Test func `A link in place of a subdirectory fails its rows and is not followed`() async throws {
    let fixture = try CommandFixture()
    let list = try fixture.list(["/a.png", "/b.png"])
    for name in ["out", "elsewhere"] {
      try FileManager.default.createDirectory(atPath: fixture.directory.path(name), withIntermediateDirectories: true)
    }
    try #require(symlink("../elsewhere", fixture.directory.path("out/a")) == 0)

    let result = try await fixture.fetch(list, "--name", "{stem}/x.{ext}", "--overwrite")

    #expect(result.ending == .exit(1))
    #expect(try fixture.report().map { $0.code ?? $0.status } == ["output_failed", "ok"])
    #expect(try fixture.text("report.jsonl").contains("remove it, or change --name-template.\""))
    #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path("elsewhere")).isEmpty)
    #expect(try files(fixture) == ["b/x.png"])
  }
}
