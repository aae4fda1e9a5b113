import Foundation
import TestSupport
import Testing

@Suite("thumbs cache", .timeLimit(.minutes(20))) struct CacheCommandTests {
  /// Returns a fixture whose cache contains two images and one failure.
  private static func filled() async throws -> CommandFixture {
    let fixture = try CommandFixture { $0.target == "/gone.png" ? .http(404) : .icon() }
    let list = try fixture.list(["/a.png", "/b.png?key=secret", "/gone.png"])
    #expect(try await fixture.fetch(list, "--size", "16", "--size", "8").ending == .exit(1))
    return fixture
  }

  private static func object(_ text: some StringProtocol) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  /// Splits tab-separated values into rows of cells.
  private static func cells(_ text: String) -> [[String]] {
    text.split(separator: "\n").map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
  }

  @Test func `The ls command lists every source in each format without secrets`() async throws {
    let fixture = try await Self.filled()

    let (table, json) = (try await fixture.cacheCommand("ls"), try await fixture.cacheCommand("ls", "--format", "json"))
    let lines = try await fixture.cacheCommand("ls", "--format", "jsonl")
    let separated = try await fixture.cacheCommand("ls", "--format", "tsv")

    for result in [table, json, lines, separated] {
      #expect(result.ending == .exit(0) && result.errors.isEmpty)
      #expect(!result.output.contains("secret"))
    }
    #expect(table.output.split(separator: "\n").count == 5 && table.output.contains("\n3 sources, "))

    let objects = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [[String: Any]])
    let urls = Set(["/a.png", "/b.png?…", "/gone.png"].map { fixture.server.url($0) })

    #expect(Set(objects.compactMap { $0["url"] as? String }) == urls)
    #expect(objects.compactMap { $0["state"] as? String }.sorted() == ["failed", "fresh", "fresh"])
    #expect(objects.compactMap { ($0["thumbnails"] as? [Any])?.count }.sorted() == [0, 2, 2])
    #expect(Set(try lines.output.split(separator: "\n").map { try Self.object($0)["url"] as? String }) == urls)

    let rows = Self.cells(separated.output)
    #expect(rows.map(\.count) == [6, 6, 6, 6])
    #expect(Set(rows.dropFirst().map { $0[5] }) == urls)
    #expect(try await fixture.cacheCommand("ls", "--full-urls").output.contains("?key=secret"))
  }

  @Test func `The stats command reports the same counts in each format`() async throws {
    let fixture = try await Self.filled()

    let json = try Self.object(try await fixture.cacheCommand("stats", "--format", "json").output)

    #expect(json["sources"] as? Int == 3)
    #expect(json["failures"] as? Int == 1)
    #expect(json["thumbnails"] as? Int == 4)

    let lengths = try fixture.outputs().map { try fixture.output($0).count }
    #expect(json["thumbnailBytes"] as? Int == lengths.reduce(0, +))

    let rows = Self.cells(try await fixture.cacheCommand("stats", "--format", "tsv").output)
    #expect(rows.count == 2 && rows[0].count == rows[1].count)

    let columns = Dictionary(zip(rows[0], rows[1])) { first, _ in first }
    #expect(columns["sources"] == "3" && columns["thumbnails"] == "4" && columns["failures"] == "1")

    let table = try await fixture.cacheCommand("stats").output
    #expect(table.contains("Sources     3   fresh 2  stale 0  failed 1"))
  }

  @Test(arguments: [["ls"], ["stats"], ["clear"], ["clear", "--dry-run"]])
  func `A command on a missing cache exits with 66 and creates none`(arguments: [String]) async throws {
    let fixture = try CommandFixture()

    let result = try await fixture.start(["cache"] + arguments + ["--cache-dir", fixture.cache]).result()

    #expect(result.ending == .exit(66))
    #expect(result.output.isEmpty)
    #expect(result.errorLines == ["thumbs cache: There is no cache in \(fixture.cache)."])
    #expect(try fixture.directory.files() == [])
  }

  @Test func `The clear command empties the cache, and its dry run does not`() async throws {
    let fixture = try CommandFixture()
    let list = try fixture.list(["/a.png"])

    #expect(try await fixture.fetch(list).ending == .exit(0))

    let trial = try await fixture.cacheCommand("clear", "--dry-run")
    #expect(trial.ending == .exit(0) && trial.output.hasPrefix("Would remove 1 source"))
    #expect(try await fixture.fetch(list).ending == .exit(0))
    #expect(fixture.server.requests.count == 1)
    #expect(try await fixture.cacheCommand("clear").ending == .exit(0))
    #expect(try await fixture.fetch(list).ending == .exit(0))
    #expect(fixture.server.requests.count == 2)
  }

  @Test func `With --keep-originals a new size needs no network`() async throws {
    let fixture = try CommandFixture()
    let list = try fixture.list(["/a.png", "/b.png"])

    #expect(try await fixture.fetch(list, "--size", "16", "--keep-originals").ending == .exit(0))
    #expect(try await fixture.fetch(list, "--size", "8").ending == .exit(0))
    #expect(try await fixture.fetch(list, "--size", "16", "--size", "12", "--offline").ending == .exit(0))
    #expect(fixture.server.requests.count == 2)
    #expect(try fixture.report().map(\.origin) == ["disk", "disk"])

    let kept = try Self.object(try await fixture.cacheCommand("stats", "--format", "json").output)
    #expect(try #require(kept["originalBytes"] as? Int) > 100)
    #expect(try await fixture.cacheCommand("verify").ending == .exit(0))
  }

  @Test func `Without --keep-originals a new size is downloaded again and fails offline`() async throws {
    let fixture = try CommandFixture()
    let list = try fixture.list(["/a.png"])

    #expect(try await fixture.fetch(list, "--size", "16").ending == .exit(0))
    #expect(try await fixture.fetch(list, "--size", "8", "--offline").ending == .exit(1))
    #expect(try fixture.report().map(\.code) == ["offline_miss"])
    #expect(try await fixture.fetch(list, "--size", "8").ending == .exit(0))
    #expect(fixture.server.requests.count == 2)
  }

  @Test func `The dir command prints the path of the cache`() async throws {
    let fixture = try CommandFixture()

    #expect(try await fixture.cacheCommand("dir").output == fixture.cache + "\n")

    let home = fixture.directory.path
    #expect(try await fixture.run("cache", "dir").output == home + "/.cache/thumbs\n")

    let xdg = try await fixture.run("cache", "dir", environment: ["XDG_CACHE_HOME": "/somewhere"])
    #expect(xdg.output == "/somewhere/thumbs\n")

    let own = try await fixture.run("cache", "dir", environment: ["THUMBS_CACHE_DIR": "/own"])
    #expect(own.output == "/own\n")
  }

  @Test(arguments: [["ls"], ["stats"], ["ls", "--format", "jsonl"]])
  func `A cache command whose output is closed early ends without a message`(arguments: [String]) async throws {
    let fixture = try await Self.filled()
    let command = try fixture.start(
      ["cache"] + arguments + ["--cache-dir", fixture.cache], output: .reader(lines: 0))

    let result = await command.result()

    // SIGPIPE ends the command, as it does for any other tool in a pipeline.
    #expect(result.ending == .signal(SIGPIPE))
    #expect(result.errors.isEmpty)
  }
}
