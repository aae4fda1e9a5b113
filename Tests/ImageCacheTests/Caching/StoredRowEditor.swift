import Foundation
import GRDB

@testable import ImageCache

/// Changes rows in the database of a cache behind its back.
struct StoredRowEditor {
  let database: String

  /// - Parameter directory: The cache directory, in its first generation.
  init(_ directory: CachePlace) { database = directory.path + "/g000001/cache.db" }

  func execute(_ sql: String, _ arguments: StatementArguments = []) throws {
    try DatabaseQueue.patient(database).write { try $0.execute(sql: sql, arguments: arguments) }
  }

  /// Returns a number that a query gives.
  func count(_ sql: String) throws -> Int? {
    try DatabaseQueue.patient(database).read { try Int.fetchOne($0, sql: sql) }
  }

  /// Changes a byte in the middle of every record of a kind.
  func damageRecords(where condition: String) throws {
    try rewrite(where: condition) { _, record in
      record[record.count / 2] ^= 0x40
    }
  }

  /// Makes all failures and verdicts those of the renderer version before this one.
  func outdateFailures() throws {
    try rewrite(where: RowNumber.isSource) { _, record in
      guard let stored = record.withUnsafeBytes({ SourceRecord($0) }), !stored.source.isImage else { return }
      record = SourceRecord.encode(stored.source, key: stored.key, rendererEdition: Renderer.edition - 1) ?? []
    }
    try rewrite(where: RowNumber.isVerdict) { _, record in
      guard let stored = record.withUnsafeBytes({ VerdictRecord($0) }) else { return }
      record = VerdictRecord.encode(stored.error, of: stored.digest, rendererEdition: Renderer.edition - 1)
    }
  }

  /// Makes all thumbnails those of another renderer version: each gets the record and the place that it would have.
  func outdateThumbnails() throws {
    let rows = try DatabaseQueue.patient(database).read {
      try Row.fetchAll($0, sql: "SELECT id, record, body FROM item WHERE \(RowNumber.isThumbnail)")
    }
    for row in rows {
      let (record, body): ([UInt8], [UInt8]) = ([UInt8](row["record"] as Data), [UInt8](row["body"] as Data))
      guard let old = record.withUnsafeBytes({ ThumbnailRecord(withoutBody: $0) }),
        let spec = ThumbnailSpec(cacheText: old.specText)
      else { continue }
      let thumbnail = Thumbnail(spec: spec, size: old.size, format: old.format, bytes: body)
      let text = "0" + old.specText.drop { $0 != " " }
      let new = ThumbnailRecord.encode(thumbnail, specText: text, digest: old.digest) ?? []
      let (id, last) = (row["id"] as Int, 32765)
      let moved = RowNumber.source(of: id) + (id - RowNumber.source(of: id)) % last + 1
      try execute("UPDATE item SET id = ?, record = ? WHERE id = ?", [moved, Data(new), id])
      try execute("UPDATE slot SET id = ? WHERE id = ?", [moved, id])
    }
  }

  private func rewrite(where condition: String, _ change: (Int, inout [UInt8]) throws -> Void) throws {
    let rows = try DatabaseQueue.patient(database).read {
      try Row.fetchAll($0, sql: "SELECT id, record FROM item WHERE \(condition)")
    }
    for row in rows {
      var record = [UInt8](row["record"] as Data)
      try change(row["id"], &record)
      try execute("UPDATE item SET record = ? WHERE id = ?", [Data(record), row["id"] as Int])
    }
  }
}
