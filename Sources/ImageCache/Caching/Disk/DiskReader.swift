import GRDB
import GRDBSQLite
import Synchronization

/// Finds entries on disk. Never writes and never waits for a writer.
final class DiskReader: Sendable {
  private struct State {
    var generation: OpenGeneration?
    /// The time of the last look at `CURRENT`; nil forces a new look.
    var checkedAt: ContinuousClock.Instant?
    /// The end of the pause after a lookup that met a busy database; nil without a pause.
    var busyUntil: ContinuousClock.Instant?
    /// The length of the last pause; zero after a lookup that succeeded.
    var busyPause = Duration.zero

    /// Begins a pause that is longer than the last one.
    mutating func pauseWhileBusy() {
      busyPause = min(max(DiskReader.firstBusyPause, busyPause * 4), DiskReader.longestBusyPause)
      busyUntil = .now + busyPause
    }
  }

  /// The longest time for which a generation may be read after another process has replaced it.
  private static let checkInterval: Duration = .seconds(1)
  /// The time without lookups after one that met a busy database, and after several in a row. SQLite makes readers wait
  /// only while a process recovers the log. If that process is stopped, each lookup would wait up to 10 seconds.
  private static let firstBusyPause: Duration = .seconds(5)
  private static let longestBusyPause: Duration = .seconds(60)

  private let directory: CacheDirectory
  private let names = SpecNames()
  private let state = Mutex(State())

  init(_ directory: CacheDirectory) { self.directory = directory }

  /// Makes the next lookup read `CURRENT` again.
  func invalidate() { state.withLock { ($0.checkedAt, $0.busyUntil) = (nil, nil) } }

  /// Returns the entries of `lookups` in the same order, read in one short transaction. May block on a disk read.
  ///
  /// - Parameters:
  ///   - now: Seconds since 1970.
  ///   - used: Receives the slots whose use must be recorded.
  func find(_ lookups: [CacheLookup], now: Int, used: inout [SlotUse]) throws(ReadFailure) -> [Finding] {
    var slots: [SlotUse] = []
    let findings = try read { generation, database in
      try generation.find(lookups, now: now, used: &slots, names: names, in: database)
    }
    used += slots
    return findings ?? lookups.map { _ in .missing }
  }

  /// Returns the file kept for `key`, unchecked; empty if there is none.
  func original(of key: SourceKey) throws(ReadFailure) -> [UInt8] {
    let body = try read { _, database -> [UInt8]? in
      var run = try StatementRun("SELECT body FROM item WHERE id = ?", in: database)
      run.bind(RowNumber.original(of: key))
      guard var columns = try run.next() else { return nil }
      return columns.bytes()
    }
    return (body ?? nil) ?? []
  }

  /// Returns the reason why this ``Renderer/edition`` could not decode the bytes of `digest`; nil if none is stored.
  func imageError(of digest: BodyDigest) throws(ReadFailure) -> ImageError? {
    try read { _, database -> ImageError? in
      var run = try StatementRun("SELECT record FROM item WHERE id = ?", in: database)
      run.bind(RowNumber.verdict(on: digest))
      guard var columns = try run.next(), let verdict = columns.withBytes({ VerdictRecord($0) }) ?? nil,
        verdict.digest == digest, verdict.rendererEdition == Renderer.edition
      else { return nil }
      return verdict.error
    } ?? nil
  }

  /// Runs `body` in the current generation; nil if the directory contains no cache, or after it was busy.
  private func read<T>(_ body: (OpenGeneration, Database) throws -> T) throws(ReadFailure) -> T? {
    let isPausing = state.withLock { $0.busyUntil.map { ContinuousClock.now < $0 } ?? false }
    if isPausing { return nil }
    do throws(ReadFailure) {
      let result = try readOnceOrTwice(body)
      state.withLock { $0.busyPause = .zero }
      return result
    } catch {
      if error.error.code == .busy { state.withLock { $0.pauseWhileBusy() } }
      throw error
    }
  }

  private func readOnceOrTwice<T>(_ body: (OpenGeneration, Database) throws -> T) throws(ReadFailure) -> T? {
    guard let generation = try openGeneration() else { return nil }
    do throws(DiskCacheError) {
      return try generation.read { try body(generation, $0) }
    } catch {
      guard error.code == .corrupt else { throw ReadFailure(error: error, generation: generation.number) }
    }
    // Damage that a new connection does not meet again was a single failed read.
    close(generation)
    guard let again = try openGeneration() else { return nil }
    do throws(DiskCacheError) {
      return try again.read { try body(again, $0) }
    } catch {
      throw ReadFailure(error: error, generation: again.number)
    }
  }

  /// Makes the next lookup open the database again, unless another thread has already reopened it.
  private func close(_ generation: OpenGeneration) {
    state.withLock { state in
      guard state.generation === generation else { return }
      state = State()
    }
  }

  /// A failed lookup with the generation it happened in.
  struct ReadFailure: Error {
    var error: DiskCacheError
    var generation: Int
  }

  /// Returns the generation to read from; nil if the directory contains no cache.
  ///
  /// Opens under the lock, so that many threads starting at once open it only once. A replaced generation closes when
  /// the last lookup in it ends.
  private func openGeneration() throws(ReadFailure) -> OpenGeneration? {
    let now = ContinuousClock.now
    return try state.withLock { (state) throws(ReadFailure) in
      if let checkedAt = state.checkedAt, now < checkedAt + Self.checkInterval { return state.generation }
      state.checkedAt = now
      guard let number = try currentGeneration(else: state.generation) else {
        state.generation = nil
        return nil
      }
      if let open = state.generation, open.number == number, open.isInPlace { return open }
      state.generation = nil
      do throws(DiskCacheError) {
        state.generation = try DiskDatabase.confirmingDamage { () throws(DiskCacheError) in
          try OpenGeneration(number, of: directory)
        }
      } catch {
        // Another process has replaced and removed the generation since its number was read. The next lookup opens the
        // new one.
        state.checkedAt = nil
        guard try currentGeneration(else: nil) == number else { return nil }
        state.checkedAt = now
        throw ReadFailure(error: error, generation: number)
      }
      return state.generation
    }
  }

  /// Returns the number of the current generation, or that of `open` if `CURRENT` cannot be read: an open generation
  /// stays usable as long as it exists.
  private func currentGeneration(else open: OpenGeneration?) throws(ReadFailure) -> Int? {
    do throws(DiskCacheError) {
      return try directory.currentGeneration()
    } catch {
      guard let open else { throw ReadFailure(error: error, generation: 0) }
      return open.number
    }
  }
}

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
    _ lookups: [CacheLookup], now: Int, used: inout [SlotUse], names: SpecNames, in database: Database
  ) throws -> [Finding] {
    // A transaction that could not be ended would show an old state for good.
    if database.isInsideTransaction { try database.execute(cached: "ROLLBACK") }
    try database.execute(cached: "BEGIN")
    defer { try? database.execute(cached: "COMMIT") }
    var finder = try EntryFinder(in: database, names: names)
    var findings: [Finding] = []
    let start = try ReuseTable.start(in: database)
    for lookup in lookups {
      findings.append(try finder.find(lookup))
      try recent.withLock { recent in
        for use in finder.uses where SlotTable.isValid(use.slot) {
          let isDue = try recent.note(use.slot, now: now, start: start) { try SlotTable.chunk($0, in: database) }
          if isDue { used.append(use) }
        }
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

/// The result of a lookup in a generation.
enum Finding {
  case missing
  /// An intact entry with those of the requested thumbnails that exist.
  case found(StoredSource, [ThumbnailSpec: Thumbnail])
  /// An entry that fails its checksum, belongs to another URL, or is a failure of another renderer edition.
  case unusable
}

/// Looks up entries through one prepared statement, which reads the rows of a source in one descent.
struct EntryFinder: ~Copyable {
  private var run: StatementRun
  private let names: SpecNames
  /// The rows that were returned by the last ``find(_:)``.
  private(set) var uses: [SlotUse] = []

  init(in database: Database, names: SpecNames) throws {
    run = try StatementRun("SELECT id, slot, record, body FROM item WHERE id BETWEEN ? AND ?", in: database)
    self.names = names
  }

  /// Returns the entry of a source with those of the wanted thumbnails that exist.
  mutating func find(_ lookup: CacheLookup) throws -> Finding {
    uses.removeAll(keepingCapacity: true)
    let range = RowNumber.all(of: lookup.key)
    run.restart()
    run.bind(range.lowerBound)
    run.bind(range.upperBound)
    defer { run.restart() }
    guard var columns = try run.next(), let row = columns.integer() else { return .missing }
    // A thumbnail without a source can only be the result of damage.
    guard row == range.lowerBound else { return .unusable }
    let slot = columns.integer() ?? -1
    guard let record = columns.withBytes({ SourceRecord($0, expecting: lookup.url) }) ?? nil, !record.isOutdated else {
      return .unusable
    }
    // Another source may have the same place.
    guard record.key == lookup.key else { return .missing }
    guard record.source.url == lookup.url else { return .unusable }
    return try thumbnails(of: record.source, slot: slot, lookup)
  }

  /// Reads the rows behind the source until all wanted thumbnails are found.
  private mutating func thumbnails(of source: StoredSource, slot: Int, _ lookup: CacheLookup) throws -> Finding {
    var found: [ThumbnailSpec: Thumbnail] = [:]
    if case .image(_, let digest, _) = source.content {
      var wanted = lookup.specs.map { spec in
        let name = names.name(of: spec)
        return (row: RowNumber.thumbnail(name, of: lookup.key), spec: spec, text: name.text)
      }
      while !wanted.isEmpty, var columns = try run.next() {
        let row = columns.integer()
        guard let index = wanted.firstIndex(where: { $0.row == row }) else { continue }
        let (_, spec, text) = wanted.remove(at: index)
        let slot = columns.integer() ?? -1
        guard let (record, bytes) = ThumbnailRecord.read(&columns) else { return .unusable }
        // Another spec may have the same row.
        guard record.specText == text, record.digest == digest else { continue }
        found[spec] = Thumbnail(spec: spec, size: record.size, format: record.format, bytes: bytes)
        uses.append(SlotUse(slot: slot, isSource: false))
      }
    }
    uses.append(SlotUse(slot: slot, isSource: true))
    return .found(source, found)
  }
}

extension ThumbnailRecord {
  /// Reads the columns `record` and `body`; nil if they are damaged.
  static func read(_ columns: inout ColumnReader) -> (ThumbnailRecord, [UInt8])? {
    guard let record = columns.blob() else { return nil }
    let body = columns.blob() ?? .empty
    return ThumbnailRecord(record, body: body).map { ($0, [UInt8](body)) }
  }
}
