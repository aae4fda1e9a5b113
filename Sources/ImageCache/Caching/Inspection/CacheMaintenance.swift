import Foundation
public import FoundationEssentials

/// Operations on a whole cache directory, even while other processes use it.
///
/// All of them throw ``DiskCacheError/Code/noCache`` if there is no cache, and ``DiskCacheError/Code/busy`` if another
/// process holds the lock for too long. Except for ``clear(directory:)`` they work in small steps, so that other
/// processes can write in between.
public enum CacheMaintenance {
  /// Empties the cache in `directory` at once, whatever its size: a new generation replaces the old one, which is
  /// removed as soon as no process uses it. Works even if the files of the old generation cannot be read.
  public static func clear(directory path: String) throws(DiskCacheError) {
    do throws(DiskCacheError) {
      _ = try existing(path)
    } catch {
      guard error.code == .io else { throw error }
    }
    var run = MaintenanceRun(DiskStore(CacheDirectory(path: path), byteLimit: nil), now: 0)
    defer { run.close() }
    try run.startOver()
  }

  /// Empties the cache if it cannot be read at all because of an I/O error that is not a passing one, such as a broken
  /// sector of the disk: if two verifications fail and the process can open other files.
  ///
  /// - Returns: True if the cache was emptied; false if a verification did not fail.
  public static func clearIfUnreadable(directory path: String) throws -> Bool {
    for _ in 0..<2 {
      do {
        _ = try CacheInspector(directory: path).verify(.full) { _ in }
        return false
      } catch let error as DiskCacheError where error.code == .io && FileLock.canOpenFiles {
        continue
      }
    }
    try clear(directory: path)
    return true
  }

  /// Returns the limit in bytes that a process without its own applies to the cache in `directory`.
  public static func appliedLimit(directory path: String) throws(DiskCacheError) -> Int {
    try DiskStore(CacheDirectory(path: path), byteLimit: nil).limit()
  }

  /// Returns the limit stored in `directory` in bytes; nil if there is none.
  public static func limit(directory path: String) throws(DiskCacheError) -> Int? {
    try existing(path).storedLimit()
  }

  /// Stores a limit in the cache directory for all processes that use it. Running processes apply it from their next
  /// batch on. A process configured with a lower limit keeps that one. If there is no cache, makes an empty one.
  ///
  /// - Parameters:
  ///   - limit: The limit in bytes, at least 1; nil removes the stored limit.
  ///   - path: The cache directory.
  public static func setLimit(_ limit: Int?, directory path: String) throws(DiskCacheError) {
    let directory = CacheDirectory(path: path)
    if limit != nil, try directory.currentGeneration() == nil {
      var run = MaintenanceRun(DiskStore(directory, byteLimit: nil), now: 0)
      defer { run.close() }
      try run.startOver()
    }
    _ = try existing(path)
    // Two processes that set a limit at the same time would write the same temporary file.
    try FileLock(creating: directory.lockPath).withLock { () throws(DiskCacheError) in
      try directory.setStoredLimit(limit)
    }
  }

  /// Removes the least recently used sources until the cache holds at most `limit` bytes, and returns the space to the
  /// file system.
  ///
  /// - Parameters:
  ///   - path: The cache directory.
  ///   - limit: The target in bytes; nil for the limit of the cache itself.
  ///   - now: The current time. Sources with a later last use, from a clock that ran ahead, are removed first.
  /// - Returns: The number of sources removed.
  @discardableResult
  public static func prune(
    directory path: String, downTo limit: Int? = nil, at now: Date = Date()
  ) throws(DiskCacheError) -> Int {
    try change(path, now: now) { run throws(DiskCacheError) in try run.prune(downTo: limit) }
  }

  /// Returns what ``prune(directory:downTo:at:)`` would remove, and changes nothing. Other processes wait until it
  /// ends. A cache with more than 50,000 sources is therefore only estimated: its pages become empty later than their
  /// contents do.
  ///
  /// - Parameters:
  ///   - path: The cache directory.
  ///   - limit: The target in bytes; nil for the limit of the cache itself.
  ///   - now: The current time. Default: that of the system clock.
  public static func rehearsePrune(
    directory path: String, downTo limit: Int? = nil, at now: Date = Date()
  ) throws(DiskCacheError) -> (sources: Int, bytes: Int, isEstimate: Bool) {
    let inspector = try CacheInspector(directory: path)
    guard try inspector.statistics(at: now).sources <= 50_000 else {
      let estimate = try inspector.leastRecentlyUsed(above: limit, at: now)
      return (estimate.sources, estimate.bytes, true)
    }
    let exact = try change(path, now: now) { run throws(DiskCacheError) in try run.rehearse(downTo: limit) }
    return (exact.eviction.sources, exact.bytes, false)
  }

  /// Removes sources with all their thumbnails, and returns the space to the file system.
  ///
  /// - Parameters:
  ///   - keys: The keys of the sources, consumed in batches. Unknown keys are ignored.
  ///   - path: The cache directory.
  public static func remove(_ keys: some Sequence<SourceKey>, directory path: String) throws(DiskCacheError) {
    try change(path) { run throws(DiskCacheError) in try run.remove(keys) }
  }

  /// Removes the damaged sources that a verification found, or empties the cache if a problem does not name a source.
  /// A wrong index for statistics and eviction is corrected. Verify again to learn whether that was enough.
  public static func repair(_ problems: [CacheProblem], directory path: String) throws(DiskCacheError) {
    let others = problems.filter { $0.code != .wrongTotal }
    let keys = others.compactMap(\.key)
    guard keys.count == others.count else { return try clear(directory: path) }
    try remove(keys, directory: path)
    guard others.count < problems.count else { return }
    try change(path) { run throws(DiskCacheError) in try run.repair() }
  }

  private static func existing(_ path: String) throws(DiskCacheError) -> CacheDirectory {
    let directory = CacheDirectory(path: path)
    guard try directory.currentGeneration() != nil else {
      throw DiskCacheError(.noCache, "There is no cache in \(path).")
    }
    return directory
  }

  private static func change<T>(
    _ path: String, now: Date = Date(), _ body: (inout MaintenanceRun) throws(DiskCacheError) -> T
  ) throws(DiskCacheError) -> T {
    var run = MaintenanceRun(DiskStore(try existing(path), byteLimit: nil), now: now.wholeSeconds)
    defer { run.close() }
    return try body(&run)
  }
}

/// Changes a cache directory in small steps. Each step holds the directory's lock and is followed by a pause.
struct MaintenanceRun {
  private var store: DiskStore
  private let now: Int
  private let pause: () -> Void

  /// - Parameters:
  ///   - now: Seconds since 1970.
  ///   - pause: Called after each step, without the lock. Default: sleeps for 2 ms. Other processes poll the lock every
  ///     0.5 ms and would not find it free between two steps without a pause.
  init(_ store: DiskStore, now: Int, pause: @escaping () -> Void = { usleep(2000) }) {
    self.store = store
    self.now = now
    self.pause = pause
  }

  /// Makes a new, empty generation the current one.
  mutating func startOver() throws(DiskCacheError) { try store.startOver() }

  /// Evicts sources until the cache holds at most `limit` bytes (nil for its own limit), and returns the space to the
  /// file system.
  ///
  /// - Returns: The number of sources removed.
  mutating func prune(downTo limit: Int?) throws(DiskCacheError) -> Int {
    let limit = if let limit { limit } else { try store.limit() }
    var (sum, last) = (Eviction(), Eviction())
    repeat {
      _ = try step { transactions in
        last = try transactions.evictSome(downTo: limit)
        return true
      }
      sum += last
    } while last.rows > 0
    try giveSpaceBack()
    return sum.sources
  }

  /// Returns what ``prune(downTo:)`` would remove, and the number of bytes that this would free.
  mutating func rehearse(downTo limit: Int?) throws(DiskCacheError) -> (eviction: Eviction, bytes: Int) {
    let limit = if let limit { limit } else { try store.limit() }
    var result = (eviction: Eviction(), bytes: 0)
    _ = try step { transactions in
      result = try transactions.rehearsal(downTo: limit)
      return false
    }
    return result
  }

  /// Removes the sources of `keys`, and returns the space to the file system.
  mutating func remove(_ keys: some Sequence<SourceKey>) throws(DiskCacheError) {
    var pending: [SourceKey] = []
    for key in keys {
      pending.append(key)
      if pending.count == Staging.batchEntries { try removeSome(&pending) }
    }
    try removeSome(&pending)
    try giveSpaceBack()
  }

  /// Corrects the index for statistics and eviction.
  mutating func repair() throws(DiskCacheError) {
    _ = try step { transactions in
      try transactions.repair()
      return false
    }
  }

  /// Closes the database.
  mutating func close() { store.close() }

  private mutating func removeSome(_ keys: inout [SourceKey]) throws(DiskCacheError) {
    let batch = Staging.ChangeSet(changes: keys.map { ($0, Staging.Change(source: nil)) }, used: [])
    _ = try step { transactions in
      try transactions.write(batch)
      return true
    }
    keys = []
  }

  private mutating func giveSpaceBack() throws(DiskCacheError) {
    while try step({ try $0.vacuum() }) {}
  }

  /// Makes one change. Returns true if `body` reports more to do.
  private mutating func step(_ body: (inout DiskTransactions) throws -> Bool) throws(DiskCacheError) -> Bool {
    defer { pause() }
    return try store.change(now: now, body)
  }
}

/// The numbers of one run of a program that used a cache.
public struct CacheRun: Hashable, Sendable {
  /// The time at which the run ended, in whole seconds.
  public var ended: Date
  /// Lookups served from memory.
  public var memoryHits: Int
  /// Lookups served at least partly from disk.
  public var diskHits: Int
  /// Lookups that found no source.
  public var misses: Int
  /// Sources committed to disk.
  public var written: Int
  /// Sources removed from disk to stay within the limit.
  public var evicted: Int
  /// Sources that were not written to disk because a write failed or too many writes were waiting.
  public var dropped: Int
  /// The time at which the run began, in whole seconds; nil for a run of an earlier version.
  public var began: Date?
  /// Sources that were not written because the cache was full of sources that are more likely to be used again.
  public var declined: Int
  /// Sources that were missing only because they had been evicted or declined earlier.
  public var lost: Int
  /// The limit of the run in bytes; nil for a run of an earlier version.
  public var limit: Int?

  /// The number of lookups.
  public var lookups: Int { memoryHits + diskHits + misses }

  init(began: Date, ended: Date, limit: Int?, _ counters: CacheCounters) {
    self.limit = limit
    self.began = Date(timeIntervalSince1970: Double(began.wholeSeconds))
    self.ended = Date(timeIntervalSince1970: Double(ended.wholeSeconds))
    (declined, lost) = (counters.declined, counters.lost)
    (memoryHits, diskHits, misses) = (counters.memoryHits, counters.diskHits, counters.misses)
    (written, evicted, dropped) = (counters.written, counters.evicted, counters.dropped)
  }
}

extension CacheRun {
  /// The run as one line: its numbers in the order of the properties.
  var line: String {
    let numbers = [
      ended.wholeSeconds, memoryHits, diskHits, misses, written, evicted, dropped, began?.wholeSeconds ?? 0, declined,
      lost, limit ?? 0,
    ]
    return numbers.map(String.init).joined(separator: " ")
  }

  /// Creates the run of a ``line``; nil for any other text.
  init?(line: some StringProtocol) {
    var numbers = line.split(separator: " ").compactMap { Int($0) }
    // Earlier versions wrote seven numbers.
    if numbers.count == 7 { numbers += [0, 0, 0, 0] }
    guard numbers.count == 11, numbers.allSatisfy({ 0..<1 << 40 ~= $0 }) else { return nil }
    began = numbers[7] == 0 ? nil : Date(timeIntervalSince1970: Double(numbers[7]))
    (declined, lost, limit) = (numbers[8], numbers[9], numbers[10] == 0 ? nil : numbers[10])
    ended = Date(timeIntervalSince1970: Double(numbers[0]))
    (memoryHits, diskHits, misses) = (numbers[1], numbers[2], numbers[3])
    (written, evicted, dropped) = (numbers[4], numbers[5], numbers[6])
  }
}

extension CacheDirectory {
  /// The number of runs that are remembered.
  static let rememberedRuns = 20

  private var runsPath: String { path + "/RUNS" }

  /// Returns the last runs, newest first; empty if the file is missing or damaged.
  func runs() throws(DiskCacheError) -> [CacheRun] {
    let text = try text(ofFile: runsPath, limit: 8192)
    return (text ?? "").split(separator: "\n").compactMap { CacheRun(line: $0) }
  }

  /// Adds a run to the last ones, unless the directory contains no cache. A failure has no effect: the numbers are only
  /// for people.
  func record(_ run: CacheRun) {
    guard (try? currentGeneration()) ?? nil != nil else { return }
    try? FileLock(creating: lockPath).withLock(patience: .milliseconds(100)) { () throws(DiskCacheError) in
      let lines = ([run] + (try runs())).prefix(Self.rememberedRuns).map(\.line)
      try replace(runsPath, with: lines.joined(separator: "\n") + "\n", isSynced: false)
    }
  }
}

extension CacheInspector {
  /// The numbers of the last runs that recorded them with ``ThumbnailCache/recordRun()``, newest first; at most 20.
  public var runs: [CacheRun] { (try? directory.runs()) ?? [] }

  /// Returns what the last runs had needed beyond the limit; nil if it lost them no hits.
  ///
  /// - Parameter count: The number of runs. Default 3.
  public func shortage(ofLast count: Int = 3) throws(DiskCacheError) -> CacheShortage? {
    let last = runs.prefix(count).prefix { $0.began != nil }
    let (hits, lost) = last.reduce((0, 0)) { ($0.0 + $1.memoryHits + $1.diskHits, $0.1 + $1.lost) }
    guard lost > 0, let began = last.compactMap(\.began).min() else { return nil }
    let bytes = try generation.read { connection in
      try DiskTransactions(database: connection, now: 0).bytes(usedSince: began.wholeSeconds)
    }
    return CacheShortage(runs: last.count, bytes: bytes, limit: last.first?.limit, hits: hits, lost: lost)
  }
}

/// The hits that runs lost because the cache was too small for what they used.
public struct CacheShortage: Hashable, Sendable {
  /// The number of runs.
  public var runs: Int
  /// The approximate size that everything they used has in a cache, in bytes.
  public var bytes: Int
  /// The limit of the last one in bytes; nil if it is not known.
  public var limit: Int?
  /// The lookups that were served from memory or disk.
  public var hits: Int
  /// The lookups that a larger cache would have served.
  public var lost: Int

  /// Creates a shortage from its numbers.
  public init(runs: Int, bytes: Int, limit: Int?, hits: Int, lost: Int) {
    (self.runs, self.bytes, self.limit, self.hits, self.lost) = (runs, bytes, limit, hits, lost)
  }

  /// The part of the hits that was lost, 0 to 1.
  public var lostPart: Double { Double(lost) / Double(max(1, hits + lost)) }

  /// A round limit with a tenth more than ``bytes``.
  public var suggestedLimit: Int {
    let wanted = bytes + bytes / 10
    let step = wanted > 1 << 30 ? 1 << 28 : wanted > 1 << 26 ? 1 << 24 : 1 << 20
    return (wanted + step - 1) / step * step
  }
}

extension DiskTransactions {
  /// Returns the approximate size of the sources used since `time` (seconds since 1970), kept or not.
  fileprivate func bytes(usedSince time: Int) throws -> Int {
    var (chunks, kept, sources): ([Int: UseChunk], Int, Int) = ([:], 0, 0)
    var run = try StatementRun(
      "SELECT number, \(RowNumber.size), \(RowNumber.isSource) FROM slot WHERE id IS NOT NULL", in: database)
    while var columns = try run.next() {
      guard let slot = columns.integer(), SlotTable.isValid(slot) else { continue }
      let (number, index) = UseChunk.position(of: slot)
      let chunk = try chunks[number] ?? SlotTable.chunk(number, in: database) ?? UseChunk()
      chunks[number] = chunk
      guard chunk[index] >= UInt32(clamping: time) else { continue }
      kept += (columns.integer() ?? 0) + Self.rowBytes
      sources += columns.integer() ?? 0
    }
    // Those that are not kept are taken to be as large as the others.
    let sum = try kept + ReuseTable.ghosts(usedSince: time, in: database) * kept / max(1, sources)
    return Int(Double(sum) * Double(try usedBytes()) / Double(max(1, try contentBytes())))
  }
}

/// The contents of a cache directory. All sizes are in bytes.
public struct CacheStatistics: Hashable, Sendable {
  /// The path of the directory.
  public var directory: String
  /// The number of the current generation.
  public var generation: Int
  /// The number of all sources, images and failures.
  public var sources: Int
  /// The number of images that may be used without contacting the origin.
  public var freshSources: Int
  /// The number of images that must be validated first.
  public var staleSources: Int
  /// The number of sources that failed.
  public var failures: Int
  /// The number of thumbnails of all sources.
  public var thumbnails: Int
  /// The total size of all thumbnails.
  public var thumbnailBytes: Int
  /// The total size of the originals that are kept.
  public var originalBytes: Int
  /// The size of the used pages of the database, to which the limit applies.
  public var usedBytes: Int
  /// The limit stored in the cache itself; nil if there is none.
  public var storedLimit: Int?
  /// The size of the database file.
  public var databaseBytes: Int
  /// The size of the write-ahead log.
  public var logBytes: Int
  /// The time of the oldest last use of any source; nil without sources.
  public var oldestUse: Date?
}
