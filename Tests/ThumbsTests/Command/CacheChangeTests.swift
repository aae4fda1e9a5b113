import Foundation
import ImageCache
import TestSupport
import Testing

@Suite("thumbs cache show, verify, prune, rm, limit", .timeLimit(.minutes(20))) struct CacheChangeTests {
  /// Returns a fixture whose cache contains three images and one failure.
  private static func filled() async throws -> CommandFixture {
    let fixture = try CommandFixture { $0.target == "/gone.png" ? .http(404) : .icon() }
    let list = try fixture.list(["/a.png", "/b.png?key=secret", "/c.png", "/gone.png"])
    #expect(try await fixture.fetch(list, "--size", "16", "--size", "8").ending == .exit(1))
    return fixture
  }

  private static func key(_ fixture: CommandFixture, _ path: String) -> String {
    SourceKey(url: fixture.server.url(path)).description
  }

  private static func object(_ text: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  private func keys(_ fixture: CommandFixture, _ filters: String...) async throws -> Set<String> {
    let arguments = ["cache", "ls", "--format", "tsv"] + filters.flatMap { ["--filter", $0] }
    let result = try await fixture.start(arguments + ["--cache-dir", fixture.cache]).result()
    #expect(result.ending == .exit(0))
    return Set(result.output.split(separator: "\n").dropFirst().map { String($0.prefix { $0 != "\t" }) })
  }

  @Test func `The show command finds a source by its URL and by a prefix of its key`() async throws {
    let fixture = try await Self.filled()
    let key = Self.key(fixture, "/a.png")
    for name in [fixture.server.url("/a.png"), key, String(key.prefix(8)), key.uppercased()] {
      let result = try await fixture.cacheCommand("show", name, "--format", "json")
      #expect(result.ending == .exit(0))
      let object = try Self.object(result.output)
      #expect(object["key"] as? String == key)
      #expect((object["thumbnails"] as? [Any])?.count == 2)
    }
  }

  @Test(arguments: ["http://nowhere.example/", "abc", "ffffffffffffff", "zzzzzzzz", ""])
  func `The show and rm commands exit with 1 for an unknown source`(name: String) async throws {
    let fixture = try await Self.filled()
    for verb in ["show", "rm"] {
      let result = try await fixture.cacheCommand(verb, name)
      #expect(result.ending == .exit(1))
      #expect(result.output.isEmpty)
      #expect(result.errors.contains("There is no source"))
    }
  }

  @Test func `The show --explain command states the freshness and what a request would do`() async throws {
    let fixture = try await Self.filled()

    let fresh = try await fixture.cacheCommand("show", fixture.server.url("/a.png"), "--explain").output

    #expect(fresh.contains("of 3600 s (max-age)"))
    #expect(fresh.contains("a request now would be served from the cache, without contacting the server"))

    let gone = try await fixture.cacheCommand("show", fixture.server.url("/gone.png"), "--explain").output
    #expect(gone.contains("of 600 s (missing)"))
    #expect(gone.contains("a request now would fail with http_404, without contacting the server"))
    #expect(!fresh.contains("\u{1b}"))
  }

  @Test func `The show --body command writes the bytes of the thumbnail`() async throws {
    let fixture = try await Self.filled()
    let command = try fixture.start(
      ["cache", "show", fixture.server.url("/a.png"), "--spec", "8x8", "--body", "--cache-dir", fixture.cache])

    let result = await command.result()

    #expect(result.ending == .exit(0))
    #expect(try command.output.bytes == fixture.output("a-8x8.png"))

    let other = try await fixture.cacheCommand("show", fixture.server.url("/a.png"), "--spec", "9x9", "--body")
    #expect(other.ending == .exit(1))
    #expect(other.errors.contains("Available: 16x16, 8x8"))
  }

  @Test func `The ls command lists the sources that match all filters`() async throws {
    let fixture = try await Self.filled()

    #expect(try await keys(fixture).count == 4)
    #expect(try await keys(fixture, "state=failed") == [Self.key(fixture, "/gone.png")])
    #expect(try await keys(fixture, "state=fresh", "host=127.0.0.1").count == 3)
    #expect(try await keys(fixture, "host=elsewhere.example").isEmpty)
    #expect(try await keys(fixture, "older-than=1h").isEmpty)
    #expect(try await keys(fixture, "older-than=0s").count == 4)
    #expect(try await keys(fixture, "larger-than=10B").count == 3)
    #expect(try await keys(fixture, "larger-than=1MiB").isEmpty)
  }

  @Test(arguments: ["host", "state=odd", "older-than=3", "older-than=d", "larger-than=x", "size=3", "host="])
  func `An invalid filter is a usage error`(filter: String) async throws {
    let fixture = try CommandFixture()
    #expect(try await fixture.cacheCommand("ls", "--filter", filter).ending == .exit(64))
  }

  @Test func `The rm command removes one source, and its dry run removes none`() async throws {
    let fixture = try await Self.filled()
    let key = Self.key(fixture, "/a.png")

    #expect(try await fixture.cacheCommand("rm", "-n", key).output.hasPrefix("Would remove \(key)"))
    #expect(try await keys(fixture).count == 4)
    #expect(try await fixture.cacheCommand("rm", String(key.prefix(10))).output.hasPrefix("Removed \(key)"))
    #expect(try await !keys(fixture).contains(key))
    #expect(try await fixture.cacheCommand("verify").ending == .exit(0))
  }

  @Test func `A command that meets a busy cache exits with 75 and reports no removal`() async throws {
    let fixture = try await Self.filled()
    let lock = open(fixture.cache + "/lock", O_RDWR | O_CLOEXEC)
    defer { close(lock) }
    #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
    for arguments in [["rm", Self.key(fixture, "/a.png")], ["prune"], ["clear", "--json"]] {
      let result = try await fixture.start(["cache"] + arguments + ["--cache-dir", fixture.cache]).result()
      #expect(result.ending == .exit(75) && result.output.isEmpty, "\(arguments): \(result.output)")
    }
    #expect(flock(lock, LOCK_UN) == 0)
    #expect(try await keys(fixture).count == 4)
  }

  @Test func `The prune command removes sources that match its filters or exceed its size`() async throws {
    let fixture = try await Self.filled()

    let trial = try await fixture.cacheCommand("prune", "-n", "--filter", "state=fresh").output

    #expect(trial.hasPrefix("Would remove 3 sources"))
    #expect(try await fixture.cacheCommand("prune", "--filter", "state=failed").output.hasPrefix("Removed 1 source"))
    #expect(try await keys(fixture).count == 3)
    #expect(try await fixture.cacheCommand("prune").output == "Removed 0 sources.\n")
    #expect(try await fixture.cacheCommand("prune", "-n", "--max-size", "1B").output.hasPrefix("Would remove 3"))
    #expect(try await fixture.cacheCommand("prune", "--max-size", "1B").output.hasPrefix("Removed 3 sources"))
    #expect(try await keys(fixture).isEmpty)
  }

  @Test func `A dry run of the limit command prints the new limit and does not store it`() async throws {
    let fixture = try await Self.filled()

    #expect(try await fixture.cacheCommand("limit", "-n", "64MiB").output == "Would set the limit to 64.00 MiB.\n")
    #expect(try await fixture.cacheCommand("limit", "-n", "none").output == "Would remove the limit.\n")
    let record = try await fixture.cacheCommand("limit", "--dry-run", "1KiB", "--json").output
    #expect(record == "{\"dryRun\":true,\"limit\":1024}\n")
    #expect(try await fixture.cacheCommand("limit").output == Self.noLimit)
  }

  private static let noLimit = "none stored; runs apply 2.00 GiB, or their --cache-size\n"

  @Test func `A limit can be stored before the first run, which applies it`() async throws {
    let fixture = try CommandFixture()
    #expect(try await fixture.cacheCommand("limit", "none").ending == .exit(66))
    #expect(try await fixture.cacheCommand("limit", "64MiB").ending == .exit(0))
    #expect(try await fixture.fetch(try fixture.list(["/a.png"])).ending == .exit(0))
    let statistics = try Self.object(try await fixture.cacheCommand("stats", "--json").output)
    #expect(statistics["storedLimit"] as? Int == 64 << 20 && statistics["sources"] as? Int == 1)
    #expect(statistics["appliedLimit"] as? Int == 64 << 20)
  }

  @Test func `Hosts are selected by name, port and domain`() async throws {
    let fixture = try await Self.filled()
    let port = fixture.server.port
    for pattern in ["127.0.0.1", "127.0.0.1:\(port)", "*"] {
      #expect(try await keys(fixture, "host=\(pattern)").count == 4, "\(pattern)")
      #expect(try await fixture.cacheCommand("ls", "--host", pattern, "--format", "jsonl").outputLines.count == 4)
    }
    for pattern in ["127.0.0.1:1", "*.example", "other.example"] {
      let none = try await fixture.cacheCommand("ls", "--host", pattern)
      #expect(none.ending == .exit(0))
      #expect(none.errors == "thumbs cache: No source matches. The cache has sources of 127.0.0.1:\(port).\n")
    }
    #expect(try await fixture.cacheCommand("ls", "--host", "a b").ending == .exit(64))
  }

  @Test func `The sources of a host are removed by rm and prune, which say how much`() async throws {
    let fixture = try await Self.filled()
    let none = try await fixture.cacheCommand("rm", "--host", "other.example")
    #expect(none.ending == .exit(0) && none.errors.contains("No source matches."))
    let dry = try await fixture.cacheCommand("prune", "-n", "--host", "127.0.0.1").output
    #expect(dry.hasPrefix("Would remove 4 sources, "))
    let removed = try await fixture.cacheCommand("rm", "--host", "127.0.0.1").output
    #expect(removed.contains("\nRemoved 4 sources, ") && removed.contains("Removed "))
    #expect(try await fixture.cacheCommand("ls", "--json").output == "[]\n")
    #expect(try await fixture.cacheCommand("rm").ending == .exit(64))
    let again = try await Self.filled()
    #expect(try await again.cacheCommand("prune", "--host", "127.0.0.1").output.hasPrefix("Removed 4 sources, "))
    let cleared = try await Self.filled()
    #expect(try await cleared.cacheCommand("clear").output.hasPrefix("Removed 4 sources, "))
  }

  @Test func `The list is sorted, has a total, and groups by host`() async throws {
    let fixture = try await Self.filled()
    for order in ["size", "used", "host"] {
      let lines = try await fixture.cacheCommand("ls", "--sort", order, "--format", "jsonl").outputLines
      let objects = try lines.map { try Self.object(String($0)) }
      #expect(objects.count == 4)
      let sizes = objects.compactMap { $0["bytes"] as? Int }
      if order == "size" { #expect(sizes == sizes.sorted(by: >)) }
      let urls = objects.compactMap { $0["url"] as? String }
      if order == "host" { #expect(urls == urls.sorted()) }
    }
    let hosts = try await fixture.cacheCommand("ls", "--by-host").outputLines
    #expect(hosts.count == 3 && hosts[1].hasSuffix("  127.0.0.1:\(fixture.server.port)"))
    #expect(hosts[1].contains("        4  ") && hosts[2].hasPrefix("4 sources, "))
    let object = try await fixture.cacheCommand("ls", "--by-host", "--format", "jsonl").output
    #expect(try Self.object(object)["sources"] as? Int == 4)
  }

  @Test func `The reason why a source is missing is explained`() async throws {
    let fixture = try CommandFixture()
    let list = try fixture.list(["/a.png?v=1&key=secret", "/b.png"])
    #expect(try await fixture.fetch(list).ending == .exit(0))
    let other = try await fixture.cacheCommand("why", fixture.server.url("/a.png?v=2"))
    #expect(other.ending == .exit(1) && !other.errors.contains("secret"))
    #expect(other.errors.contains("With another query, there is \(fixture.server.url("/a.png"))?v=…&key=…"))
    let never = try await fixture.cacheCommand("why", fixture.server.url("/never.png"))
    #expect(never.ending == .exit(1) && never.errors.contains("No run has stored it"))
  }

  @Test func `A source that a full cache did not keep is missing for that reason`() async throws {
    let fixture = try CommandFixture { .icon(Int($0.target.filter(\.isNumber)) ?? 0) }
    let urls = (0..<300).map { fixture.server.url("/\($0).png") }
    let run = try await fixture.fetch(try fixture.list(urls: urls), "--cache-size", "200KiB")
    #expect(run.ending == .exit(0))
    let kept = try await fixture.cacheCommand("ls", "--format", "tsv").output
    let missing = try #require(urls.first { !kept.contains("\($0)\n") })
    let why = try await fixture.cacheCommand("why", missing)
    #expect(why.ending == .exit(1) && why.errors.contains("because the cache was full; it was last used at 20"))
  }

  @Test func `The limit command stores the limit in the cache and prints it`() async throws {
    let fixture = try await Self.filled()

    #expect(try await fixture.cacheCommand("limit").output == Self.noLimit)
    let small = try await fixture.cacheCommand("limit", "8KiB").output
    #expect(small.contains("The next run removes ") && small.contains(" of 4, as "), "\(small)")
    #expect(try await fixture.cacheCommand("limit", "64MiB").output == "")
    #expect(try await fixture.cacheCommand("limit").output == "64.00 MiB\n")

    let statistics = try Self.object(try await fixture.cacheCommand("stats", "--format", "json").output)
    #expect(statistics["storedLimit"] as? Int == 64 << 20)
    #expect(try await fixture.cacheCommand("clear").ending == .exit(0))
    #expect(try await fixture.cacheCommand("limit").output == "64.00 MiB\n")
    #expect(try await fixture.cacheCommand("limit", "none").ending == .exit(0))
    #expect(try await fixture.cacheCommand("limit").output == Self.noLimit)
    #expect(try await fixture.cacheCommand("limit", "0").ending == .exit(64))
    let number = try await fixture.cacheCommand("limit", "500")
    #expect(number.ending == .exit(64) && number.errors.contains("500 without a unit would be bytes; give 500MiB"))
  }

  @Test func `The verify command finds no problem in a new cache`() async throws {
    let fixture = try await Self.filled()

    let result = try await fixture.cacheCommand("verify", "--format", "jsonl")

    #expect(result.ending == .exit(0))

    let summary = try Self.object(result.output)
    #expect(summary["sources"] as? Int == 4)
    #expect(summary["thumbnails"] as? Int == 6)
    #expect(summary["problems"] as? Int == 0)

    let document = try await fixture.cacheCommand("verify", "--format", "json").output
    #expect((try JSONSerialization.jsonObject(with: Data(document.utf8)) as? [Any])?.count == 1)
  }

  @Test(arguments: [
    ["show", "abcdef"], ["verify"], ["prune"], ["prune", "-n"], ["rm", "abcdef"], ["limit"], ["limit", "none"],
  ])
  func `A command that changes a missing cache exits with 66 and creates none`(arguments: [String]) async throws {
    let fixture = try CommandFixture()

    let result = try await fixture.start(["cache"] + arguments + ["--cache-dir", fixture.cache]).result()

    #expect(result.ending == .exit(66))
    #expect(result.output.isEmpty)
    #expect(try fixture.directory.files() == [])
  }
}
