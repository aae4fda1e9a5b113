import Foundation
import GRDB

/// A run of sources in the order of their identifiers.
struct SourcePage {
  private static let length = 500

  var sources: [ListedSource] = []
  /// Sources left out because they are damaged.
  var unusable = 0
  /// The identifier of the last source, where the next page begins.
  var last: Int

  /// The page after the source `previous`; nil when there is none.
  init?(after previous: Int, in database: Database) throws {
    last = try Self.end(after: previous, in: database)
    guard last > previous else { return nil }
    let thumbnails = try Self.thumbnails(after: previous, through: last, in: database)
    var run = try StatementRun(Self.selection, in: database)
    run.bind(previous)
    run.bind(last)
    while var columns = try run.next() {
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

  private static let selection = """
    SELECT id, key, last_used, \(StoredSource.columns.joined(separator: ", ")) FROM source
    WHERE id > ? AND id <= ? ORDER BY id
    """

  /// The identifier of the last source of the page after `previous`; `previous` itself when there is none.
  private static func end(after previous: Int, in database: Database) throws -> Int {
    var run = try StatementRun(
      "SELECT max(id) FROM (SELECT id FROM source WHERE id > ? ORDER BY id LIMIT \(length))", in: database)
    run.bind(previous)
    guard var columns = try run.next() else { return previous }
    return columns.integer() ?? previous
  }

  /// The thumbnails of a run of sources, by the source's identifier.
  private static func thumbnails(
    after first: Int, through last: Int, in database: Database
  ) throws -> [Int: [ListedSource.Thumbnail]] {
    var run = try StatementRun(
      """
      SELECT source_id, spec, width, height, format, length FROM thumbnail WHERE source_id > ? AND source_id <= ?
      """, in: database)
    run.bind(first)
    run.bind(last)
    var result: [Int: [ListedSource.Thumbnail]] = [:]
    while var columns = try run.next() {
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
