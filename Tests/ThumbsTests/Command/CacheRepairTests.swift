import Foundation
import GRDB
import ImageCache
import TestSupport
import Testing

@Suite("thumbs cache verify --repair", .timeLimit(.minutes(20))) struct CacheRepairTests {
  /// Damage to a cache of three images, and the number of images that a repair leaves.
  struct Damage: Sendable, CustomTestStringConvertible {
    let code: String
    let sql: String
    let left: Int
    var testDescription: String { code }
  }

  /// The rows of sources have numbers that are multiples of 32,768; those of their thumbnails follow.
  static let damages = [
    Damage(
      code: "bad_thumbnail",
      sql: "UPDATE item SET body = zeroblob(length(body)) WHERE id = (SELECT min(id) FROM item WHERE body NOT NULL)",
      left: 2),
    Damage(
      code: "bad_source",
      sql: "UPDATE item SET record = zeroblob(99) WHERE id % 32768 = 0 AND id > (SELECT min(id) FROM item)", left: 1),
    Damage(code: "wrong_count", sql: "UPDATE slot SET bytes = 1 WHERE number = 0", left: 2),
    Damage(code: "wrong_total", sql: "INSERT INTO slot VALUES (99, 77, 0, NULL)", left: 3),
    Damage(
      code: "orphans", sql: "DELETE FROM item WHERE id = (SELECT max(id) FROM item WHERE id % 32768 = 0)", left: 2),
  ]

  private static func filled() async throws -> CommandFixture {
    let fixture = try CommandFixture { _ in .icon() }
    let list = try fixture.list(["/a.png", "/b.png", "/c.png"])
    #expect(try await fixture.fetch(list, "--size", "16").ending == .exit(0))
    return fixture
  }

  private static func sources(_ fixture: CommandFixture) async throws -> Int? {
    let text = try await fixture.cacheCommand("stats", "--format", "json").output
    return (try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])?["sources"] as? Int
  }

  @Test(arguments: damages)
  func `A repair removes damaged entries, keeps the others and leaves no problem`(damage: Damage) async throws {
    let fixture = try await Self.filled()

    try await DatabaseQueue(path: fixture.cache + "/g000001/cache.db").write { try $0.execute(sql: damage.sql) }
    let found = try await fixture.cacheCommand("verify", "--format", "tsv")

    #expect(found.ending == .exit(1))
    #expect(found.output.hasPrefix(damage.code + "\t"))

    let repaired = try await fixture.cacheCommand("verify", "--repair")
    #expect(repaired.ending == .exit(0))
    #expect(repaired.output.hasPrefix("PROBLEM \(damage.code) "))
    #expect(repaired.errors == "Repaired.\n")
    #expect(try await fixture.cacheCommand("verify").ending == .exit(0))
    #expect(try await Self.sources(fixture) == damage.left)
  }

  @Test func `A dry run of a repair removes nothing`() async throws {
    let fixture = try await Self.filled()
    try await DatabaseQueue(path: fixture.cache + "/g000001/cache.db").write {
      try $0.execute(sql: Self.damages[0].sql)
    }

    for _ in 1...2 {
      let result = try await fixture.cacheCommand("verify", "--repair", "-n")
      #expect(result.ending == .exit(1) && result.output.hasPrefix("PROBLEM bad_thumbnail "))
      #expect(result.errors == "Would repair 1 problem.\n")
    }
    #expect(try await Self.sources(fixture) == 3)
  }

  @Test func `A repair replaces a database file that is not a database with an empty cache`() async throws {
    let fixture = try await Self.filled()
    let database = fixture.cache + "/g000001/cache.db"
    try Data(repeating: 7, count: 100_000).write(to: URL(fileURLWithPath: database))
    // The write-ahead log may still contain all the data.
    try Data().write(to: URL(fileURLWithPath: database + "-wal"))

    #expect(try await fixture.cacheCommand("verify").ending == .exit(1))

    let repaired = try await fixture.cacheCommand("verify", "--repair")
    #expect(repaired.ending == .exit(0))
    #expect(repaired.errors.hasSuffix("Repaired.\n"))
    #expect(try await Self.sources(fixture) == 0)
  }

  @Test func `A repair of an intact cache prints no message`() async throws {
    let fixture = try await Self.filled()

    let result = try await fixture.cacheCommand("verify", "--repair")

    #expect(result.ending == .exit(0))
    #expect(result.errors.isEmpty)
    #expect(try await Self.sources(fixture) == 3)
  }

  @Test func `A repair resets a cache whose database cannot be opened, and no other command does`() async throws {
    let fixture = try await Self.filled()
    let database = fixture.cache + "/g000001/cache.db"
    try FileManager.default.removeItem(atPath: database)
    try FileManager.default.createDirectory(atPath: database, withIntermediateDirectories: false)
    let list = try fixture.list(["/a.png"])

    #expect(try await fixture.fetch(list, "--size", "16").ending == .exit(0))
    #expect(try await fixture.cacheCommand("verify").ending == .exit(74))
    #expect(try String(contentsOfFile: fixture.cache + "/CURRENT", encoding: .utf8) == "g1\n")

    let repaired = try await fixture.cacheCommand("verify", "--repair")
    #expect(repaired.ending == .exit(0))
    #expect(repaired.errors.hasSuffix("Repaired.\n"))
    #expect(try await fixture.fetch(list, "--size", "16").ending == .exit(0))
    #expect(try await Self.sources(fixture) == 1)
  }

  @Test(arguments: [16, 39])
  func `A command that may open too few files ends before it changes anything`(limit: Int) async throws {
    let fixture = try await Self.filled()
    for arguments in [["cache", "verify", "--repair", "--cache-dir", fixture.cache], fixture.fetchArguments(["no"])] {
      let result = try await fixture.start(arguments, setup: "ulimit -n \(limit)").result()
      #expect(result.ending == .exit(74))
      let message = "thumbs: Only \(limit) files may be open (ulimit -n); at least 40 are necessary.\n"
      #expect(result.errors == message)
    }
    let result = try await fixture.start(
      ["cache", "verify", "--repair", "--cache-dir", fixture.cache], setup: "ulimit -n 40"
    ).result()
    #expect(result.ending == .exit(0))
    #expect(try await Self.sources(fixture) == 3)
  }
}
