import GRDB

// The downloaded files that thumbnails were made from.
extension DiskTransactions {
  /// Stores the file of a source and replaces an older one.
  func insert(original body: [UInt8], of source: Int) throws {
    try removeOriginal(of: source)
    var file = try StatementRun("INSERT INTO blob (data) VALUES (?)", in: database)
    file.bind(body)
    try file.finish()
    try run("INSERT INTO original (blob_id, source_id, length) VALUES (last_insert_rowid(), ?, ?)", source, body.count)
  }

  /// Removes the file of a source. A trigger deletes its bytes.
  func removeOriginal(of source: Int) throws {
    try run("DELETE FROM original WHERE source_id = ?", source)
  }

  /// Removes the files stored first until all files together take at most `limit` bytes.
  func evictOriginals(downTo limit: Int) throws {
    guard try originalBytes() > limit else { return }
    try database.inTransaction(.immediate) {
      while try originalBytes() > limit {
        try run("DELETE FROM original WHERE blob_id = (SELECT min(blob_id) FROM original)")
      }
      return .commit
    }
  }

  /// Returns the total size of all files in bytes; 0 without files, even if the stored total is damaged.
  func originalBytes() throws -> Int {
    var run = try StatementRun("SELECT bytes FROM original_total WHERE EXISTS (SELECT 1 FROM original)", in: database)
    guard var columns = try run.next() else { return 0 }
    return columns.integer() ?? 0
  }
}
