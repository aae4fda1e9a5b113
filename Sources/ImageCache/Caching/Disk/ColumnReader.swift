import GRDB
import GRDBSQLite

/// Reads the columns of a row in order. Returns nil for a value of another type, as found in a damaged file. Valid
/// until the statement takes its next step.
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

  /// Reads a time or a size and clamps it to 0...2^40. Such a value is used in arithmetic before its checksum is
  /// compared, or has no checksum, and a damaged one may be any number.
  mutating func amount() -> Int? { integer().map { max(0, min($0, 1 << 40)) } }

  mutating func bytes() -> [UInt8]? { withBytes { [UInt8]($0) } }

  /// Calls `body` with the bytes of a column, without copying them; returns nil for a value of another type.
  mutating func withBytes<T>(_ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T? {
    let bytes = blob()
    return try bytes.map(body)
  }

  /// Returns the bytes of a column, valid until the statement takes its next step; nil for a value of another type.
  mutating func blob() -> UnsafeRawBufferPointer? {
    defer { index += 1 }
    guard sqlite3_column_type(statement, index) == SQLITE_BLOB else { return nil }
    let start = sqlite3_column_blob(statement, index)
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, index)))
  }

  /// Skips some columns.
  mutating func skip(_ count: Int) { index += Int32(count) }
}
