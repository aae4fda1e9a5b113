import Foundation
import GRDB

/// A page of sources, read in one transaction.
struct SourcePage {
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
