import Foundation
import GRDB

/// Reads a row's columns in order, and finds nil where a damaged file has a value of another type.
struct ColumnReader {
  private let row: Row
  private var index = 0

  init(_ row: Row, from index: Int = 0) {
    self.row = row
    self.index = index
  }

  mutating func text() -> String? { String.fromDatabaseValue(next()) }

  mutating func integer() -> Int? { Int.fromDatabaseValue(next()) }

  mutating func bytes() -> [UInt8]? {
    defer { index += 1 }
    // Without the copy that a `Data` of its own would be.
    return try? row.withUnsafeData(atIndex: index) { $0.map { [UInt8]($0) } }
  }

  private mutating func next() -> DatabaseValue {
    defer { index += 1 }
    return row[index]
  }
}
