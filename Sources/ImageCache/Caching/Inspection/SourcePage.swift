import Foundation
import GRDB

/// A page of sources, read in one transaction.
struct SourcePage {
  private static let length = 500

  var sources: [ListedSource] = []
  /// The keys of damaged sources, which are left out; nil for a key that cannot be read.
  var unusable: [SourceKey?] = []
  /// The number of failures from another renderer version, which count as missing.
  var outdated = 0
  /// The identifier of the last source. The next page begins after it.
  var last = Int.min

  /// Reads the page after the source `previous`, ordered by identifier; nil if there are no more.
  init?(after previous: Int, in database: Database) throws {
    last = try Self.end(after: previous, in: database)
    guard last > previous else { return nil }
    var run = try StatementRun(Self.selection + " WHERE id > ? AND id <= ? ORDER BY id", in: database)
    run.bind(previous)
    run.bind(last)
    let thumbnails = try ListedSource.Thumbnail.all(after: previous, through: last, in: database)
    while var columns = try run.next() {
      take(&columns, thumbnails)
    }
  }

  /// Reads at most `limit` sources with these keys, ordered by key.
  init(keys: ClosedRange<SourceKey>, limit: Int, in database: Database) throws {
    var run = try StatementRun(Self.selection + " WHERE key BETWEEN ? AND ? ORDER BY key LIMIT ?", in: database)
    run.bind(keys.lowerBound.bytes)
    run.bind(keys.upperBound.bytes)
    run.bind(limit)
    while var columns = try run.next() {
      var first = columns
      let id = first.integer() ?? 0
      take(&columns, try ListedSource.Thumbnail.all(after: id - 1, through: id, in: database))
    }
  }

  private static let selection = """
    SELECT id, key, last_used, \(StoredSource.columns.joined(separator: ", ")) FROM source
    """

  private mutating func take(_ columns: inout ColumnReader, _ thumbnails: [Int: [ListedSource.Thumbnail]]) {
    let id = columns.integer() ?? 0
    let key = columns.bytes().flatMap { SourceKey(bytes: $0) }
    guard let key, let lastUsed = columns.integer(), let row = StoredSource.row(&columns, key: key) else {
      return unusable.append(key)
    }
    if row.isOutdated {
      outdated += 1
      return
    }
    sources.append(
      ListedSource(
        key: key, source: row.source, lastUsed: Date(timeIntervalSince1970: Double(lastUsed)),
        thumbnails: thumbnails[id] ?? []))
  }

  /// Returns the identifier of the last source on the page after `previous`; `previous` if the page is empty.
  private static func end(after previous: Int, in database: Database) throws -> Int {
    var run = try StatementRun(
      "SELECT max(id) FROM (SELECT id FROM source WHERE id > ? ORDER BY id LIMIT \(length))", in: database)
    run.bind(previous)
    guard var columns = try run.next() else { return previous }
    return columns.integer() ?? previous
  }
}

extension ListedSource.Thumbnail {
  /// Returns the thumbnails of the sources with identifiers in this range, by source identifier.
  static func all(after first: Int, through last: Int, in database: Database) throws -> [Int: [Self]] {
    var run = try StatementRun(
      """
      SELECT source_id, spec, width, height, format, length FROM thumbnail WHERE source_id > ? AND source_id <= ?
      """, in: database)
    run.bind(first)
    run.bind(last)
    var result: [Int: [Self]] = [:]
    while var columns = try run.next() {
      guard let id = columns.integer(), let text = columns.text(), let width = columns.integer(),
        let height = columns.integer(), let format = columns.text().flatMap(OutputFormat.init(rawValue:)),
        let bytes = columns.integer()
      else { continue }
      let spec = ThumbnailSpec(cacheText: text)
      result[id, default: []].append(
        Self(
          label: spec?.label ?? text, spec: spec, size: PixelSize(width: width, height: height), format: format,
          bytes: bytes))
    }
    return result
  }
}
