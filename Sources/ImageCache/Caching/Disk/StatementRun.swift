import GRDB
import GRDBSQLite
import Synchronization

/// Executions of a prepared statement, on the queue of its connection.
///
/// Values are passed to and from SQLite directly: GRDB's value types in between would cost a lookup more than SQLite
/// itself. The statement is reset on deinitialization, so that it never keeps the write-ahead log from being emptied.
struct StatementRun: ~Copyable {
  private let database: Database
  private let statement: SQLiteStatement
  private var parameter: Int32 = 0
  /// The first error from binding a parameter.
  private var bindingCode = SQLITE_OK
  /// SQLite's marker for a value that it must copy.
  private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

  /// Prepares `sql`, once per connection.
  init(_ sql: String, in database: Database) throws {
    self.database = database
    statement = try database.cachedStatement(sql: sql).sqliteStatement
  }

  deinit {
    sqlite3_reset(statement)
    sqlite3_clear_bindings(statement)
  }

  /// Ends the execution, so that the statement can be executed again with other parameters.
  mutating func restart() {
    sqlite3_reset(statement)
    parameter = 0
  }

  /// Binds the next parameter. An error is thrown by ``next()``.
  mutating func bind(_ number: Int?) {
    parameter += 1
    if let number { note(sqlite3_bind_int64(statement, parameter, Int64(number))) }
  }

  mutating func bind(_ text: String?) {
    parameter += 1
    guard var text else { return }
    let code = text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) {
        sqlite3_bind_text(statement, parameter, $0.baseAddress, Int32($0.count), Self.transient)
      }
    }
    note(code)
  }

  mutating func bind(_ bytes: [UInt8]) {
    parameter += 1
    note(sqlite3_bind_blob(statement, parameter, bytes, Int32(bytes.count), Self.transient))
  }

  /// Leaves some parameters NULL.
  mutating func skip(_ count: Int) { parameter += Int32(count) }

  private mutating func note(_ code: Int32) {
    if bindingCode == SQLITE_OK { bindingCode = code }
  }

  /// Steps to the next row; nil at the end.
  mutating func next() throws -> ColumnReader? {
    switch bindingCode == SQLITE_OK ? sqlite3_step(statement) : bindingCode {
    case SQLITE_ROW: return ColumnReader(statement)
    case SQLITE_DONE: return nil
    case let code:
      throw DatabaseError(resultCode: ResultCode(rawValue: code), message: database.lastErrorMessage)
    }
  }

  /// Runs the statement to its end and ignores its rows.
  mutating func finish() throws {
    while try next() != nil {}
  }
}

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
