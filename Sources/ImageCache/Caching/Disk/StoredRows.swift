import GRDB

/// The rows of one source in a generation, without their bodies.
struct StoredRows {
  /// The source; nil if there is none, or if its record is damaged or that of another key.
  private(set) var source: StoredSource?
  /// The slots of all rows by row number.
  var rows: [Int: Int] = [:]

  var isEmpty: Bool { rows.isEmpty }

  /// Creates a source without rows.
  init() {}

  /// Reads the rows of the source `key`.
  init(of key: SourceKey, in database: Database) throws {
    var run = try StatementRun("SELECT id, slot, record FROM item WHERE id BETWEEN ? AND ?", in: database)
    let range = RowNumber.all(of: key)
    run.bind(range.lowerBound)
    run.bind(range.upperBound)
    while var columns = try run.next() {
      guard let row = columns.integer() else { continue }
      rows[row] = columns.integer() ?? -1
      guard row == range.lowerBound else { continue }
      let record = columns.withBytes { SourceRecord($0) } ?? nil
      if record?.key == key { source = record?.source }
    }
  }

  /// Returns the slot of `row`; nil if the row does not exist.
  static func slot(of row: Int, in database: Database) throws -> Int? {
    var run = try StatementRun("SELECT slot FROM item WHERE id = ?", in: database)
    run.bind(row)
    guard var columns = try run.next() else { return nil }
    return columns.integer() ?? -1
  }

  /// Returns those rows that hold thumbnails of other renderer versions, or damaged ones.
  func outdatedThumbnails(in database: Database) throws -> Set<Int> {
    var result: Set<Int> = []
    for row in rows.keys where RowNumber.kind(of: row) == .thumbnail {
      var run = try StatementRun("SELECT record FROM item WHERE id = ?", in: database)
      run.bind(row)
      guard var columns = try run.next() else { continue }
      let record = columns.withBytes { ThumbnailRecord(withoutBody: $0) } ?? nil
      if record.flatMap({ ThumbnailSpec(cacheText: $0.specText) }) == nil { result.insert(row) }
    }
    return result
  }
}
