import GRDB

// The files that thumbnails were made from.
extension DiskTransactions {
  /// Keeps the file of a source, in the place of an older one.
  func insert(original body: [UInt8], of source: Int) throws {
    try removeOriginal(of: source)
    var file = try StatementRun("INSERT INTO blob (data) VALUES (?)", in: database)
    file.bind(body)
    try file.finish()
    try run("INSERT INTO original (blob_id, source_id, length) VALUES (last_insert_rowid(), ?, ?)", source, body.count)
  }

  /// Removes the file of a source; a trigger takes its bytes along.
  func removeOriginal(of source: Int) throws {
    try run("DELETE FROM original WHERE source_id = ?", source)
  }

  /// Removes the files that were stored first until all together take at most `limit` bytes.
  func evictOriginals(downTo limit: Int) throws {
    guard try originalBytes() > limit else { return }
    try database.inTransaction(.immediate) {
      while try originalBytes() > limit {
        try run("DELETE FROM original WHERE blob_id = (SELECT min(blob_id) FROM original)")
      }
      return .commit
    }
  }

  /// The size of all files kept, in bytes; 0 without any, whatever a damaged total says.
  func originalBytes() throws -> Int {
    var run = try StatementRun("SELECT bytes FROM original_total WHERE EXISTS (SELECT 1 FROM original)", in: database)
    guard var columns = try run.next() else { return 0 }
    return columns.integer() ?? 0
  }
}
