import Foundation
import GRDB

/// A run of sources in the order of their identifiers.
struct SourcePage {
  private static let length = 500

  var sources: [ListedSource] = []
  /// Sources left out because they are damaged.
  var unusable = 0
  /// The identifier of the last source, where the next page begins.
  var last: Int64

  /// The page after the source `previous`; nil when there is none.
  init?(after previous: Int64, in database: Database) throws {
    let columns = StoredSource.columns.joined(separator: ", ")
    let statement = try database.cachedStatement(
      sql: "SELECT id, key, last_used, \(columns) FROM source WHERE id > ? ORDER BY id LIMIT \(Self.length)")
    let rows = try Row.fetchAll(statement, arguments: [previous])
    last = rows.last.flatMap { Int64.fromDatabaseValue($0[0]) } ?? previous
    guard last > previous else { return nil }
    let thumbnails = try Self.thumbnails(after: previous, through: last, in: database)
    for row in rows {
      var columns = ColumnReader(row)
      let id = columns.integer() ?? 0
      guard let key = columns.bytes().flatMap({ SourceKey(bytes: $0) }), let lastUsed = columns.integer(),
        let source = StoredSource(&columns, key: key)
      else {
        unusable += 1
        continue
      }
      sources.append(
        ListedSource(
          key: key, source: source, lastUsed: Date(timeIntervalSince1970: Double(lastUsed)),
          thumbnails: thumbnails[id] ?? []))
    }
  }

  /// The thumbnails of a run of sources, by the source's identifier.
  private static func thumbnails(
    after first: Int64, through last: Int64, in database: Database
  ) throws -> [Int: [ListedSource.Thumbnail]] {
    let statement = try database.cachedStatement(
      sql: """
        SELECT source_id, spec, width, height, format, length FROM thumbnail WHERE source_id > ? AND source_id <= ?
        """)
    var result: [Int: [ListedSource.Thumbnail]] = [:]
    for row in try Row.fetchAll(statement, arguments: [first, last]) {
      var columns = ColumnReader(row)
      guard let id = columns.integer(), let spec = columns.text(), let width = columns.integer(),
        let height = columns.integer(), let format = columns.text().flatMap(ImageFormat.init(rawValue:)),
        let bytes = columns.integer()
      else { continue }
      result[id, default: []].append(
        ListedSource.Thumbnail(
          label: ThumbnailSpec(cacheText: spec)?.label ?? spec, size: PixelSize(width: width, height: height),
          format: format, bytes: bytes))
    }
    return result
  }
}
