import GRDB
import GRDBSQLite

/// Reads the columns of a statement's row in order, and finds nil where a damaged file has a value of another type.
/// Good until the statement goes on.
struct ColumnReader {
  private let statement: SQLiteStatement
  private var index: Int32 = 0

  init(_ statement: SQLiteStatement) { self.statement = statement }

  mutating func text() -> String? {
    defer { index += 1 }
    guard sqlite3_column_type(statement, index) == SQLITE_TEXT, let start = sqlite3_column_text(statement, index) else {
      return nil
    }
    let length = Int(sqlite3_column_bytes(statement, index))
    return String(decoding: UnsafeBufferPointer(start: start, count: length), as: UTF8.self)
  }

  mutating func integer() -> Int? {
    defer { index += 1 }
    guard sqlite3_column_type(statement, index) == SQLITE_INTEGER else { return nil }
    return Int(sqlite3_column_int64(statement, index))
  }

  /// A time or a size, between 0 and 2^40: it is computed with before a checksum is compared, or has none, and a damaged
  /// one may be anything.
  mutating func amount() -> Int? { integer().map { max(0, min($0, 1 << 40)) } }

  mutating func bytes() -> [UInt8]? {
    defer { index += 1 }
    guard sqlite3_column_type(statement, index) == SQLITE_BLOB else { return nil }
    let start = sqlite3_column_blob(statement, index)
    return [UInt8](UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, index))))
  }

  /// Passes over some columns.
  mutating func skip(_ count: Int) { index += Int32(count) }
}
