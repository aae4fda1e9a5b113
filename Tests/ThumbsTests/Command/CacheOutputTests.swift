import Foundation
import TestSupport
import Testing

@Suite("The output of thumbs cache", .timeLimit(.minutes(20))) struct CacheOutputTests {
  /// Returns a fixture whose cache contains three images and one failure.
  private static func filled() async throws -> CommandFixture {
    let fixture = try CommandFixture { $0.target == "/gone.png" ? .http(404) : .icon() }
    let list = try fixture.list(["/a.png", "/b.png", "/c.png", "/gone.png"])
    #expect(try await fixture.fetch(list, "--size", "16").ending == .exit(1))
    return fixture
  }

  private static func value(_ text: String) throws -> Any {
    try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
  }

  private static func object(_ text: String) throws -> [String: Any] {
    try #require(try value(text) as? [String: Any])
  }

  @Test(arguments: [
    ["stats"], ["ls"], ["show", "/a.png"], ["why", "/a.png"], ["verify"], ["prune"], ["prune", "-n"],
    ["prune", "--filter", "state=failed"], ["rm", "/a.png"], ["rm", "-n", "/a.png"], ["limit"], ["limit", "1GiB"],
    ["limit", "none"], ["clear"], ["clear", "-n"], ["dir"],
  ])
  func `Every command prints one JSON value with --json`(arguments: [String]) async throws {
    let fixture = try await Self.filled()
    let words = arguments.map { $0.hasPrefix("/") ? fixture.server.url($0) : $0 }
    let result = try await fixture.start(["cache"] + words + ["--json", "--cache-dir", fixture.cache]).result()

    #expect(result.ending == .exit(0))
    #expect(result.errors.isEmpty)
    #expect(throws: Never.self) { try Self.value(result.output) }
    #expect(result.output.first == "{" || ["ls", "verify"].contains(arguments[0]) && result.output.first == "[")
  }

  @Test func `The JSON objects of changes state what was removed and stored`() async throws {
    let fixture = try await Self.filled()

    let limit = try Self.object(try await fixture.cacheCommand("limit", "1GiB", "--json").output)
    #expect(limit["limit"] as? Int == 1 << 30)
    #expect(
      try await fixture.cacheCommand("limit", "none", "--json").output == "{\"applied\":2147483648,\"limit\":null}\n")

    let removal = try Self.object(
      try await fixture.cacheCommand("rm", fixture.server.url("/a.png"), "--json").output)
    let sources = try #require(removal["sources"] as? [[String: Any]])
    #expect(sources.map { $0["url"] as? String } == [fixture.server.url("/a.png")])
    #expect(removal["dryRun"] as? Bool == false)

    let pruned = try Self.object(
      try await fixture.cacheCommand("prune", "--filter", "state=failed", "--json").output)
    #expect(pruned["sources"] as? Int == 1)

    let trial = try Self.object(try await fixture.cacheCommand("clear", "-n", "--json").output)
    #expect(trial["sources"] as? Int == 2 && trial["dryRun"] as? Bool == true)

    let cleared = try Self.object(try await fixture.cacheCommand("clear", "--json").output)
    #expect(cleared["sources"] as? Int == 2 && cleared["dryRun"] as? Bool == false)
  }

  @Test func `The --json option is the same as --format json and contradicts other formats`() async throws {
    let fixture = try await Self.filled()
    for command in ["ls", "verify"] {
      let short = try await fixture.cacheCommand(command, "--json").output
      #expect(try await fixture.cacheCommand(command, "--format", "json").output == short)
      #expect(try await fixture.cacheCommand(command, "--json", "--format", "json").output == short)
      #expect(try await fixture.cacheCommand(command, "--json", "--format", "tsv").ending == .exit(64))
    }
  }

  @Test func `The why command prints the same as show --explain`() async throws {
    let fixture = try await Self.filled()
    for path in ["/a.png", "/gone.png"] {
      let why = try await fixture.cacheCommand("why", fixture.server.url(path))
      #expect(why.ending == .exit(0))
      #expect(why.output.contains("a request now would"))
      let shown = try await fixture.cacheCommand("show", "--explain", fixture.server.url(path)).output
      #expect(withoutAge(why.output) == withoutAge(shown))
    }
    #expect(try await fixture.cacheCommand("why", fixture.server.url("/other.png")).ending == .exit(1))
  }

  private func withoutAge(_ text: String) -> String { text.replacing(#/age \d+ s/#, with: "age") }

  @Test func `The prune command takes --cache-size, and its old name`() async throws {
    let fixture = try await Self.filled()

    #expect(try await fixture.cacheCommand("prune", "-n", "--max-size", "1B").output.hasPrefix("Would remove 4"))
    let result = try await fixture.cacheCommand("prune", "--cache-size", "1B").output
    #expect(result.hasPrefix("Removed 4 sources"), "\(result)")
    let conflict = try await fixture.cacheCommand("prune", "--cache-size", "1B", "--filter", "state=failed")
    #expect(conflict.ending == .exit(64))
    #expect(try await !fixture.cacheCommand("prune", "--help").output.contains("--max-size"))
  }

  @Test func `The stats command shows the hits of the last runs by tier, newest first`() async throws {
    let fixture = try await Self.filled()
    let list = try fixture.list(["/a.png", "/b.png", "/d.png", "/e.png", "/a.png"])
    #expect(try await fixture.fetch(list, "--size", "16").ending == .exit(0))

    let stats = try Self.object(try await fixture.cacheCommand("stats", "--json").output)
    let runs = try #require(stats["runs"] as? [[String: Any]])
    #expect(runs.count == 2)
    #expect(runs.map { $0["written"] as? Int } == [2, 4])
    #expect(runs[0]["diskHits"] as? Int == 2)
    #expect(try #require(runs[0]["misses"] as? Int) >= 2)
    #expect(runs[1]["hitRatio"] as? Double == 0)
    #expect(0.4...0.7 ~= (try #require(runs[0]["hitRatio"] as? Double)))

    let table = try await fixture.cacheCommand("stats").output
    #expect(table.contains(#/\nLast run    \d+\.\d % hits   memory \d+  disk 2  missed \d+   evicted 0\n/#))
    #expect(table.contains("\n2 runs      "))
  }

  @Test func `A list that does not fit keeps its share of hits, and the stats command says which limit it needs`()
    async throws
  {
    let fixture = try CommandFixture()
    let list = try fixture.list((0..<400).map { "/\($0).png" })
    func run() async throws {
      #expect(try await fixture.fetch(list, "--size", "200", "--enlarge").ending == .exit(0))
    }
    try await run()
    let whole = try Self.object(try await fixture.cacheCommand("stats", "--json").output)
    #expect(whole["shortage"] == nil)
    let half = try #require(whole["usedBytes"] as? Int) / 2
    _ = try await fixture.cacheCommand("clear")
    _ = try await fixture.cacheCommand("limit", "\(half)B")
    for _ in 0..<4 { try await run() }

    let stats = try Self.object(try await fixture.cacheCommand("stats", "--json").output)
    let hits = try #require(stats["runs"] as? [[String: Any]]).prefix(4).map { $0["diskHits"] as? Int ?? -1 }
    let kept = try #require(stats["sources"] as? Int)
    #expect(kept > 150 && kept < 250)
    #expect(hits[3] == 0 && hits[..<3].allSatisfy { $0 * 10 >= kept * 9 })
    let text = try await fixture.cacheCommand("stats").output
    #expect(text.contains("\nThe last 3 runs used "))
    let pattern = #/: (\d+) % of the hits were lost. To keep them: thumbs cache limit (\d+MiB)\n/#
    let advice = try #require(text.firstMatch(of: pattern))
    #expect(try 40...60 ~= #require(Int(advice.1)))

    _ = try await fixture.cacheCommand("limit", String(advice.2))
    for _ in 0..<2 { try await run() }
    let after = try Self.object(try await fixture.cacheCommand("stats", "--json").output)
    let last = try #require(after["runs"] as? [[String: Any]]).first
    #expect(last?["diskHits"] as? Int == 400 && last?["misses"] as? Int == 0)
  }

  @Test func `The stats command shows what a smaller limit would keep`() async throws {
    let fixture = try CommandFixture()
    let list = try fixture.list((0..<80).map { "/\($0).png" })
    #expect(try await fixture.fetch(list, "--size", "40").ending == .exit(0))

    let stats = try Self.object(try await fixture.cacheCommand("stats", "--json").output)
    let smaller = try #require(stats["smaller"] as? [[String: Any]])
    let (limits, sources) = (smaller.map { $0["limit"] as? Int ?? 0 }, smaller.map { $0["sources"] as? Int ?? -1 })
    let used = try #require(stats["usedBytes"] as? Int)
    #expect(limits == [used / 2, used / 4, used / 8])
    #expect(sources == sources.sorted(by: >) && sources[0] < 80)

    // A prune to the same size removes at least as many: pages become empty later than their contents.
    let trial = try Self.object(
      try await fixture.cacheCommand("prune", "-n", "--json", "--cache-size", "\(limits[0])B").output)
    #expect(try #require(trial["sources"] as? Int) >= 80 - sources[0])
    #expect(try await fixture.cacheCommand("stats").output.contains(" would keep \(sources[0]) of 80 sources, "))
  }
}
