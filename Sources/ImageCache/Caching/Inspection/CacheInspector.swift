import Foundation
public import FoundationEssentials
import GRDB

/// Reads a cache directory without changing it, even while other processes use it.
public struct CacheInspector: Sendable {
  let directory: CacheDirectory
  let generation: OpenGeneration

  /// Opens the cache in `directory`.
  ///
  /// - Throws: ``DiskCacheError/Code/noCache`` if the directory contains no cache.
  public init(directory path: String) throws(DiskCacheError) {
    directory = CacheDirectory(path: path)
    generation = try OpenGeneration.current(of: directory)
  }

  /// Returns what the cache holds, from a narrow index of all rows. Sources are fresh or stale as of `now`.
  public func statistics(at now: Date) throws(DiskCacheError) -> CacheStatistics {
    let database = directory.databasePath(generation.number)
    return try generation.read { connection in
      var run = try StatementRun(Self.totals, in: connection)
      run.bind(now.wholeSeconds)
      guard var columns = try run.next() else { throw DiskCacheError(.corrupt, "The totals cannot be read.") }
      let (sources, failures, fresh) = (columns.integer() ?? 0, columns.integer() ?? 0, columns.integer() ?? 0)
      let (thumbnails, bytes, originals) = (columns.integer() ?? 0, columns.amount() ?? 0, columns.amount() ?? 0)
      return CacheStatistics(
        directory: directory.path, generation: generation.number, sources: sources, freshSources: fresh,
        staleSources: sources - failures - fresh, failures: failures, thumbnails: thumbnails, thumbnailBytes: bytes,
        originalBytes: originals,
        usedBytes: try DiskTransactions(database: connection, now: 0).usedBytes(),
        storedLimit: try directory.storedLimit(), databaseBytes: CacheDirectory.size(ofFile: database),
        logBytes: CacheDirectory.size(ofFile: database + "-wal"),
        oldestUse: try EvictionOrder.oldestUse(in: connection))
    }
  }

  /// Returns how many sources would be evicted until the cache holds at most `limit` bytes, and the size of the
  /// contents of all rows evicted until then, which may be thumbnails of sources that keep others. Both are estimates.
  /// Sources with a last use later than `now`, from a clock that ran ahead, are evicted first.
  ///
  /// - Parameters:
  ///   - limit: the limit in bytes; nil for the limit of the cache itself.
  ///   - now: the current time. Default: that of the system clock.
  public func leastRecentlyUsed(
    above limit: Int?, at now: Date = Date()
  ) throws(DiskCacheError) -> (sources: Int, bytes: Int) {
    let limit = if let limit { limit } else { try DiskStore(directory, byteLimit: nil).limit() }
    return try generation.read { connection in
      let transactions = DiskTransactions(database: connection, now: now.wholeSeconds)
      return try transactions.oldest(holding: try transactions.usedBytes() - limit)
    }
  }

  /// Calls `body` with each source, in the order of their keys. Reads one page at a time, so the
  /// memory used does not grow with the cache, and writers never wait.
  ///
  /// - Parameters:
  ///   - body: receives each source that is not damaged.
  ///   - damaged: receives the number of damaged sources of each page that has some. Default: does nothing.
  /// - Throws: A ``DiskCacheError``, or the error that `body` throws.
  public func forEachSource(_ body: (ListedSource) throws -> Void, damaged: (Int) -> Void = { _ in }) throws {
    var last = Int.min
    while let page = try generation.read({ try SourcePage(after: last, in: $0) }) {
      last = page.last
      if !page.unusable.isEmpty { damaged(page.unusable.count) }
      for source in page.sources { try body(source) }
    }
  }

  private static let totals = """
    SELECT sum(\(RowNumber.isSource)), sum(\(RowNumber.isSource) AND fresh_until IS NULL), sum(fresh_until > ?),
      sum(\(RowNumber.isThumbnail)), sum(\(RowNumber.size) * (\(RowNumber.isThumbnail))),
      sum(\(RowNumber.size) * (\(RowNumber.isOriginal)))
    FROM slot WHERE id IS NOT NULL
    """
}

// MARK: Find

extension CacheInspector {
  /// Returns the source of `key`; nil if there is none or it is damaged.
  public func source(of key: SourceKey) throws(DiskCacheError) -> ListedSource? {
    try generation.read { try SourcePage(keys: key...key, limit: 1, in: $0).sources.first }
  }

  /// Returns all sources of `url`: one for each set of header fields and credentials with which it was requested. Reads
  /// the whole cache.
  public func sources(ofURL url: String) throws -> [ListedSource] {
    var found: [ListedSource] = []
    try forEachSource { if $0.source.url == url { found.append($0) } }
    return found
  }

  /// Returns the time of the last use of a source that the cache knows but does not keep, because it is full: the
  /// source was evicted or not written. Nil for any other source.
  public func lastUse(ofUnkept key: SourceKey) throws(DiskCacheError) -> Date? {
    try generation.read { database in
      var table = ReuseTable()
      let use = try table.ghost(of: RowNumber.source(key), in: database)
      return use.map { Date(timeIntervalSince1970: Double($0.time)) }
    }
  }

  /// Returns the sources whose key begins with `digits`, in key order; empty if `digits` are not hexadecimal.
  ///
  /// - Parameters:
  ///   - digits: At most 32 digits, in lower or upper case.
  ///   - limit: The most sources to return. Default 10.
  public func sources(withPrefix digits: String, limit: Int = 10) throws(DiskCacheError) -> [ListedSource] {
    guard let keys = SourceKey.range(withPrefix: digits) else { return [] }
    return try generation.read { try SourcePage(keys: keys, limit: limit, in: $0).sources }
  }

  /// Returns a thumbnail of the source `key` with its bytes; nil if it is missing or fails its checksum.
  public func thumbnail(_ spec: ThumbnailSpec, of key: SourceKey, url: String) throws(DiskCacheError) -> Thumbnail? {
    try generation.read { database in
      var finder = try EntryFinder(in: database, names: SpecNames())
      guard case .found(_, let found) = try finder.find(CacheLookup(key: key, url: url, specs: [spec])) else {
        return nil
      }
      return found[spec]
    }
  }
}

extension SourceKey {
  /// Creates a key from its ``description``; nil for any other text.
  public init?(_ description: String) {
    guard description.utf8.count == 32, let range = Self.range(withPrefix: description) else { return nil }
    self = range.lowerBound
  }

  /// Returns the keys whose description begins with `digits`; nil if these are empty, too many, or not hexadecimal.
  static func range(withPrefix digits: String) -> ClosedRange<SourceKey>? {
    let digits = digits.lowercased()
    guard (1...32).contains(digits.utf8.count), digits.utf8.allSatisfy({ UInt8(ascii: "0") <= $0 }),
      let lowest = SourceKey(padding: digits, with: "0"), let highest = SourceKey(padding: digits, with: "f")
    else { return nil }
    return lowest...highest
  }

  private init?(padding digits: String, with digit: Character) {
    let text = digits + String(repeating: digit, count: 32 - digits.utf8.count)
    guard let high = UInt64(text.prefix(16), radix: 16), let low = UInt64(text.suffix(16), radix: 16) else {
      return nil
    }
    (self.high, self.low) = (high, low)
  }
}

extension SourceKey: Comparable {
  /// Compares two keys in the order of their descriptions.
  public static func < (left: SourceKey, right: SourceKey) -> Bool {
    (left.high, left.low) < (right.high, right.low)
  }
}

/// A page of sources, read in one transaction.
private struct SourcePage {
  private static let length = 500

  var sources: [ListedSource] = []
  /// The keys of damaged sources, which are left out; nil for a key that cannot be read.
  var unusable: [SourceKey?] = []
  /// The number of failures from another renderer edition, which count as missing.
  var outdated = 0
  /// The last row. The next page begins after it.
  var last: Int

  /// Reads the page after the row `previous`; nil if there are no more rows.
  init?(after previous: Int, in database: Database) throws {
    last = previous
    guard previous < .max else { return nil }
    try read(previous + 1...Int.max, limit: Self.length, in: database)
    if last == previous { return nil }
  }

  /// Reads at most `limit` sources with these keys, ordered by key.
  init(keys: ClosedRange<SourceKey>, limit: Int, in database: Database) throws {
    let rows = RowNumber.source(keys.lowerBound)...RowNumber.all(of: keys.upperBound).upperBound
    last = rows.lowerBound
    try read(rows, limit: limit, in: database)
    sources.removeAll { !keys.contains($0.key) }
  }

  private mutating func read(_ rows: ClosedRange<Int>, limit: Int, in database: Database) throws {
    var run = try StatementRun(
      "SELECT id, slot, record, length(body) FROM item WHERE id BETWEEN ? AND ? ORDER BY id", in: database)
    run.bind(rows.lowerBound)
    run.bind(rows.upperBound)
    var (times, count, isListed) = (UseTimes(), 0, false)
    while var columns = try run.next() {
      guard let row = columns.integer() else { continue }
      let lastUsed = try times.date(of: columns.integer() ?? -1, in: database)
      switch RowNumber.kind(of: row) {
      case .source:
        if count == limit { return }
        count += 1
        isListed = take(columns.blob() ?? .empty, lastUsed, at: row)
      case .thumbnail where isListed: addThumbnail(&columns, lastUsed)
      default: break
      }
      last = row
    }
  }

  /// Takes a source; returns true if it is listed.
  private mutating func take(_ record: UnsafeRawBufferPointer, _ lastUsed: Date, at row: Int) -> Bool {
    guard let stored = SourceRecord(record), RowNumber.source(stored.key) == row else {
      unusable.append(SourceKey(at: row))
      return false
    }
    if stored.isOutdated {
      outdated += 1
      return false
    }
    sources.append(ListedSource(key: stored.key, source: stored.source, lastUsed: lastUsed, thumbnails: []))
    return true
  }

  private mutating func addThumbnail(_ columns: inout ColumnReader, _ lastUsed: Date) {
    guard let record = ThumbnailRecord(withoutBody: columns.blob() ?? .empty) else { return }
    let spec = ThumbnailSpec(cacheText: record.specText)
    let thumbnail = ListedSource.Thumbnail(
      label: spec?.label ?? record.specText, spec: spec, size: record.size, format: record.format,
      bytes: columns.integer() ?? 0)
    sources[sources.count - 1].thumbnails.append(thumbnail)
    sources[sources.count - 1].lastUsed = max(sources[sources.count - 1].lastUsed, lastUsed)
  }
}

/// The times of last use, read one chunk at a time.
private struct UseTimes {
  private var chunks: [Int: UseChunk] = [:]

  mutating func date(of slot: Int, in database: Database) throws -> Date {
    guard SlotTable.isValid(slot) else { return Date(timeIntervalSince1970: 0) }
    let (number, index) = UseChunk.position(of: slot)
    let chunk = try chunks[number] ?? SlotTable.chunk(number, in: database) ?? UseChunk()
    if chunks[number] == nil { chunks[number] = chunk }
    return Date(timeIntervalSince1970: Double(chunk[index]))
  }
}

/// A source in a cache with a description of its thumbnails, but not their bytes.
public struct ListedSource: Hashable, Sendable {
  /// A description of one thumbnail.
  public struct Thumbnail: Hashable, Sendable {
    /// The label of its spec, such as `256x256`; the whole stored text for another renderer version.
    public var label: String
    /// Its spec; nil for another renderer version.
    public var spec: ThumbnailSpec?
    /// Its size in pixels.
    public var size: PixelSize
    /// Its format.
    public var format: OutputFormat
    /// Its size in bytes.
    public var bytes: Int
  }

  /// The state of a source.
  public enum State: String, Hashable, Sendable {
    /// An image that may be used without contacting the origin.
    case fresh
    /// An image that must be validated first.
    case stale
    /// A failure.
    case failed
  }

  /// The key of the source.
  public var key: SourceKey
  /// The source.
  public var source: StoredSource
  /// The time of its last use, accurate to the hour.
  public var lastUsed: Date
  /// Its thumbnails, in no particular order.
  public var thumbnails: [Thumbnail]

  /// The total size of the thumbnails in bytes.
  public var bytes: Int { thumbnails.reduce(0) { $0 + $1.bytes } }

  /// Returns the state of the source at `now`.
  public func state(at now: Date) -> State {
    switch source.content {
    case .failure: .failed
    case .image: source.policy.state(at: now) == .fresh ? .fresh : .stale
    }
  }
}
