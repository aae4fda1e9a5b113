import Foundation

/// A row of the table.
struct App: Decodable, Sendable {
  let name: String
  let icon: String

  /// The rows of a property list: an array of dictionaries with `name` and `icon`.
  static func list(at path: String) throws -> [App] {
    let data = try Data(contentsOf: URL(filePath: path))
    return try PropertyListDecoder().decode([App].self, from: data)
  }
}
