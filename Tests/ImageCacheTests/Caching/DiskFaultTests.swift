import Foundation
import GRDB
import TestSupport
import Testing

@testable import ImageCache

@Suite("Damage to the files of the disk tier")
struct DiskFaultTests {
  private typealias Fixtures = CacheFixtures
  private let directory: CachePlace
  private static let all = 0..<40

  init() throws { directory = try CachePlace() }

  private var database: String { directory.path + "/g000001/cache.db" }

  private func fill(_ numbers: Range<Int> = all) {
    let cache = ThumbnailCache(diskAt: directory.path)
    cache.store(numbers)
    cache.flush()
  }

  /// Leaves the files as after a kill: everything stored is in the log and not yet in the database.
  private func fillLog() throws {
    let files = [database, database + "-wal"].map { URL(filePath: $0) }
    let contents = try {
      let cache = ThumbnailCache(diskAt: directory.path)
      cache.store(Self.all)
      cache.flush()
      return try withExtendedLifetime(cache) { try files.map { try Data(contentsOf: $0) } }
    }()
    #expect(contents[1].count > Self.all.count * 4096)
    for (file, content) in zip(files, contents) { try content.write(to: file) }
  }

  /// Looks up all entries, stores them again, and expects a working cache.
  private func expectRecovery(_ comment: Comment) {
    do {
      let cache = ThumbnailCache(diskAt: directory.path)
      _ = cache.checkedHits(Self.all)
      cache.flush()
      cache.store(Self.all)
      cache.flush()
    }
    let cache = ThumbnailCache(diskAt: directory.path)
    #expect(cache.checkedHits(Self.all) == Self.all.count, comment)
  }

  /// Rows without end.
  private static let endless = "WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r)"

  @Test(
    .timeLimit(.minutes(5)),
    arguments: [
      "DROP TABLE item; CREATE VIEW item AS \(endless) SELECT n AS id, 0 AS slot, x'' AS record, x'' AS body FROM r",
      "DROP TABLE slot; CREATE VIEW slot AS \(endless) SELECT n AS number, n AS id, 0 AS bytes, 0 fresh_until FROM r",
      "DROP TABLE used; CREATE VIEW used AS \(endless) SELECT n AS chunk, x'' AS times FROM r",
      "CREATE TRIGGER more AFTER INSERT ON slot BEGIN DELETE FROM item; END",
      "CREATE TABLE more (x)", "DROP INDEX slot_free",
      "DROP TABLE used; CREATE TABLE used (chunk INTEGER PRIMARY KEY, times BLOB AS (zeroblob(100000000)))",
    ])
  func `A database with other tables, views or triggers is not read, but replaced`(change: String) throws {
    fill()
    try StoredRowEditor(directory).execute(change)

    let error = #expect(throws: DiskCacheError.self) { try CacheInspector(directory: directory.path) }
    #expect(error?.code == .corrupt)
    expectRecovery("\(change)")
    #expect(try CacheInspector(directory: directory.path).statistics(at: Fixtures.start).generation == 2)
  }

  @Test(arguments: [
    "item.id", "item.slot", "slot.number", "slot.id", "slot.bytes", "slot.fresh_until", "used.chunk",
  ])
  func `No number in a database traps`(column: String) async throws {
    let (table, name) = (column.prefix { $0 != "." }, column.drop { $0 != "." }.dropFirst())
    for value in [Int.min, Int.min + 1, -1, 1 << 40, Int.max - 32767, Int.max - 1, Int.max] {
      fill()
      try StoredRowEditor(directory).execute(
        "UPDATE OR REPLACE \(table) SET \(name) = ? WHERE rowid = (SELECT max(rowid) FROM \(table))", [value])
      await #expect(processExitsWith: .success, "\(column) = \(value)") { [path = directory.path as String] in
        try Self.useEverything(of: path)
      }
      try FileManager.default.removeItem(atPath: directory.path)
    }
  }

  /// Runs every operation on the cache in `path`, which may be damaged.
  private static func useEverything(of path: String) throws {
    let inspector = try CacheInspector(directory: path)
    let statistics = try inspector.statistics(at: Fixtures.start)
    for limit in [0, statistics.usedBytes / 2] { _ = try inspector.leastRecentlyUsed(above: limit) }
    try inspector.forEachSource { _ in }
    for depth in [CacheInspector.VerificationDepth.quick, .full] {
      var problems: [CacheProblem] = []
      _ = try inspector.verify(depth) { problems.append($0) }
      if depth == .full { try CacheMaintenance.repair(problems, directory: path) }
    }
    do {
      let cache = ThumbnailCache(diskAt: path, limit: 1 << 20)
      cache.store(40..<140)
      cache.flush()
    }
    _ = ThumbnailCache(diskAt: path).checkedHits(0..<140)
    try CacheMaintenance.prune(directory: path, downTo: 0)
  }

  @Test(arguments: ["cache.db", "cache.db-wal", "cache.db-shm"], [0, 1, 100, 4095, 6000])
  func `A truncated file costs at most its entries, and the cache recovers`(file: String, length: Int) throws {
    try file.hasSuffix("-wal") ? fillLog() : fill()
    // A new file, because the cache may still be closing the old one, and SQLite maps the index of the log into memory.
    let url = URL(filePath: directory.path + "/g000001/" + file)
    let rest = try Data(contentsOf: url).prefix(length)
    try (rest + Data(repeating: 0, count: length - rest.count)).write(to: url, options: .atomic)
    expectRecovery("\(file) cut to \(length)")
  }

  @Test(arguments: 0..<CacheFixtures.count(of: "THUMBS_FLIP_ROUNDS", otherwise: 60))
  func `Flipped bits never give a wrong entry, and the cache stays usable`(seed: Int) throws {
    let isInLog = seed % 2 == 0
    try isInLog ? fillLog() : fill()
    var generator = SeededGenerator(seed: UInt64(seed))
    let file = database + (isInLog ? "-wal" : "")
    var bytes = try [UInt8](Data(contentsOf: URL(filePath: file)))
    for _ in 0..<[1, 8, 64][seed % 3] {
      bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
    }
    try Data(bytes).write(to: URL(filePath: file))
    let cache = ThumbnailCache(diskAt: directory.path)
    // A single bit damages a single page. Unless other pages are reached through it, only its own entries are lost.
    let left = cache.checkedHits(Self.all)

    if !isInLog, seed % 3 == 0, try isSound(database) { #expect(left >= Self.all.count * 3 / 4) }

    // `checkedHits` has verified that the remaining entries are intact. New entries are found too, unless the damage is
    // in an index: SQLite may then file an entry where it does not look for it, which is a miss.
    cache.store(1000..<1010)
    cache.flush()
    let hits = cache.checkedHits(1000..<1010)

    #expect(try hits == 10 || !isSound(database))
  }

  private func isSound(_ database: String) throws -> Bool {
    do {
      return try DatabaseQueue.patient(database).read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok"
    } catch is DatabaseError {
      return false
    }
  }

  @Test(
    arguments: [
      { try $0.execute("UPDATE item SET body = zeroblob(length(body)) WHERE body NOT NULL") },
      { try $0.damageRecords(where: RowNumber.isThumbnail) }, { try $0.damageRecords(where: RowNumber.isSource) },
      { try $0.execute("UPDATE item SET record = 7 WHERE \(RowNumber.isThumbnail)") },
      { try $0.execute("UPDATE item SET record = 7 WHERE \(RowNumber.isSource)") },
      { try $0.execute("DELETE FROM item WHERE \(RowNumber.isSource)") },
    ] as [@Sendable (StoredRowEditor) throws -> Void])
  func `A damaged row is a miss and is removed`(damage: @Sendable (StoredRowEditor) throws -> Void) throws {
    fill(0..<1)
    try damage(StoredRowEditor(directory))
    let cache = ThumbnailCache(diskAt: directory.path)

    #expect(cache.checkedHits(0..<1) == 0)

    cache.flush()
    #expect(cache.checkedHits(0..<1) == 0)
    #expect(cache.counters.unusable == 1)
  }

  @Test func `A failure from an older renderer is not served`() throws {
    do {
      let cache = ThumbnailCache(diskAt: directory.path)
      cache.store(Fixtures.failure(1, code: "decode_error"), thumbnails: [], for: Fixtures.key(1))
      cache.flush()
      #expect(cache.entry(for: Fixtures.key(1), url: Fixtures.url(1), specs: []) != nil)
    }
    try StoredRowEditor(directory).outdateFailures()
    let cache = ThumbnailCache(diskAt: directory.path)

    #expect(cache.entry(for: Fixtures.key(1), url: Fixtures.url(1), specs: []) == nil)
  }

  @Test func `A cache whose directory is deleted while in use starts over`() throws {
    let cache = ThumbnailCache(diskAt: directory.path)
    cache.store(0..<10)
    cache.flush()
    try FileManager.default.removeItem(atPath: directory.path)
    _ = cache.checkedHits(0..<10)
    cache.store(10..<20)
    cache.flush()

    #expect(cache.checkedHits(10..<20) == 10)
    #expect(ThumbnailCache(diskAt: directory.path).checkedHits(10..<20) == 10)
  }

  @Test func `A garbled CURRENT file leads to a new generation`() throws {
    fill()
    try "what\n".write(toFile: directory.path + "/CURRENT", atomically: false, encoding: .utf8)

    expectRecovery("CURRENT garbled")
  }

  @Test func `A database that temporarily cannot be opened is not abandoned`() throws {
    fill()
    let aside = directory.path + "/aside"
    try FileManager.default.moveItem(atPath: database, toPath: aside)
    try FileManager.default.createDirectory(atPath: database, withIntermediateDirectories: false)
    do {
      let cache = ThumbnailCache(.init(directory: directory.path), logger: .silent)
      cache.store(0..<3)
      cache.flush()
      #expect(cache.counters.errors[.io, default: 0] > 0 && cache.counters.dropped == 3)
    }
    try FileManager.default.removeItem(atPath: database)
    try FileManager.default.moveItem(atPath: aside, toPath: database)

    #expect(ThumbnailCache(diskAt: directory.path).checkedHits(Self.all) == Self.all.count)
  }

  @Test(
    arguments: [
      "item SET slot", "slot SET bytes", "slot SET fresh_until", "slot SET id", "slot SET number = number +",
      "used SET chunk = chunk +", "used SET times",
    ], [Int.min, -1, Int.max])
  func `Numbers out of range in a row have no effect on hits`(column: String, value: Int) throws {
    fill()
    // The numbers of rows must differ.
    let isUnique = column.contains("+")
    let sql = "UPDATE OR IGNORE \(column)\(isUnique ? "" : " =") \(isUnique ? value / 8 : value)"
    try StoredRowEditor(directory).execute(sql)
    let hits = ThumbnailCache(diskAt: directory.path).checkedHits(Self.all)

    // These columns are not covered by the checksum, because they do not describe the image.
    #expect(hits == Self.all.count)

    fill()
    try StoredRowEditor(directory).execute(sql)
    let inspector = try CacheInspector(directory: directory.path)
    _ = try (inspector.leastRecentlyUsed(above: 1), inspector.statistics(at: Fixtures.start))
    _ = try CacheMaintenance.prune(directory: directory.path, downTo: 1)

    expectRecovery("\(column) is \(value)")
  }

  @Test func `A cache with a newer schema is left alone, and only the memory tier is used`() throws {
    fill(0..<1)
    try DatabaseQueue.patient(database).write { try $0.execute(sql: "PRAGMA user_version = 99") }
    let cache = ThumbnailCache(.init(directory: directory.path), logger: .silent)

    #expect(cache.checkedHits(0..<1) == 0)

    cache.store(0..<3)
    cache.flush()

    #expect(cache.checkedHits(0..<3) == 3)
    #expect(cache.counters.errors[.newerSchema, default: 0] > 0)
    #expect(cache.counters.dropped == 3)
    #expect(try String(contentsOfFile: directory.path + "/CURRENT", encoding: .utf8) == "g1\n")
  }

  @Test func `A cache with an older schema is replaced by a new generation`() throws {
    fill(0..<1)
    try DatabaseQueue.patient(database).write {
      try $0.execute(sql: "PRAGMA user_version = \(DiskDatabase.schemaVersion - 1)")
    }

    expectRecovery("an older schema")
  }

  @Test func `The database of another program is replaced by a new generation`() throws {
    fill(0..<1)
    try DatabaseQueue.patient(database).write { try $0.execute(sql: "PRAGMA application_id = 1") }

    expectRecovery("another program's database")
  }

  @Test func `A directory that cannot be created disables only the disk tier`() {
    let cache = ThumbnailCache(.init(directory: "/dev/null/cache"), logger: .silent)
    cache.store(0..<3)
    cache.flush()

    #expect(cache.checkedHits(0..<3) == 3)
    #expect(cache.counters.errors == [.io: 1])
    #expect(cache.counters.dropped == 3)
  }

  @Test func `Directories have mode 0700 and files 0600, and the cache is tagged`() throws {
    fill()
    for file in directory.files + [""] {
      let attributes = try FileManager.default.attributesOfItem(atPath: directory.path + "/" + file)
      let isDirectory = attributes[.type] as? FileAttributeType == .typeDirectory
      #expect(attributes[.posixPermissions] as? Int == (isDirectory ? 0o700 : 0o600), "\(file)")
    }
    let tag = try String(contentsOfFile: directory.path + "/CACHEDIR.TAG", encoding: .utf8)

    #expect(tag.hasPrefix("Signature: 8a477f597d28d172789f06886806bc55\n"))
  }
}
