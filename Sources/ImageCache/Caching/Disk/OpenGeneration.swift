import GRDB
import Synchronization

/// The reading connections of one generation, which stays on disk as long as this object lives.
final class OpenGeneration: Sendable {
  let number: Int
  private let hold: FileLock
  private let connections: [DatabaseQueue]
  /// The number of reads in progress on each connection.
  private let loads: Mutex<[Int]>
  private let recent = Mutex(RecentUses())

  /// Opens generation `number` of `directory`. Creates and changes nothing.
  init(_ number: Int, of directory: CacheDirectory, connections count: Int = 2) throws(DiskCacheError) {
    self.number = number
    loads = Mutex(Array(repeating: 0, count: count))
    hold = try FileLock(sharingDirectory: directory.generationPath(number))
    try directory.checkFiles(of: number)
    do {
      connections = try (0..<count).map { _ in try DiskDatabase.reader(at: directory.databasePath(number)) }
    } catch {
      throw DiskCacheError(error)
    }
  }

  /// Opens the current generation of `directory`; throws `noCache` if it contains no cache.
  static func current(of directory: CacheDirectory) throws(DiskCacheError) -> OpenGeneration {
    guard let number = try directory.currentGeneration() else {
      throw DiskCacheError(.noCache, "There is no cache in \(directory.path).")
    }
    return try OpenGeneration(number, of: directory)
  }

  /// True if the path of the generation still names the open directory.
  var isInPlace: Bool { hold.isInPlace }

  /// Runs `body` on the least loaded connection. Each statement sees one state of the database.
  func read<T>(_ body: (Database) throws -> T) throws(DiskCacheError) -> T {
    let index = loads.withLock { loads in
      let index = loads.indices.min { loads[$0] < loads[$1] } ?? 0
      loads[index] += 1
      return index
    }
    defer { loads.withLock { $0[index] -= 1 } }
    do {
      return try connections[index].unsafeRead(body)
    } catch {
      throw DiskCacheError(error)
    }
  }

  /// Looks up entries on a connection of this generation, in one transaction: beginning one costs a third as much as a
  /// lookup. It is short, because an open one keeps the write-ahead log from being emptied.
  ///
  /// - Parameters:
  ///   - now: Seconds since 1970.
  ///   - used: Receives the slots whose use must be recorded.
  func find(
    _ lookups: [CacheLookup], now: Int, used: inout [Int], names: SpecNames, in database: Database
  ) throws -> [Finding] {
    // A transaction that could not be ended would show an old state for good.
    if database.isInsideTransaction { try database.execute(cached: "ROLLBACK") }
    try database.execute(cached: "BEGIN")
    defer { try? database.execute(cached: "COMMIT") }
    var finder = try EntryFinder(in: database, names: names)
    var findings: [Finding] = []
    for lookup in lookups {
      findings.append(try finder.find(lookup))
      for slot in finder.slots where SlotTable.isValid(slot) {
        let isDue = try recent.withLock { try $0.note(slot, now: now) { try SlotTable.chunk($0, in: database) } }
        if isDue { used.append(slot) }
      }
    }
    return findings
  }
}

extension Database {
  /// Executes a statement without parameters, prepared once per connection.
  func execute(cached sql: String) throws {
    var run = try StatementRun(sql, in: self)
    try run.finish()
  }
}
