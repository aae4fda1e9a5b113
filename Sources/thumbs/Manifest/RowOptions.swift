import ArgumentParser
import BatchFetch
import Foundation

/// What a row of a manifest may say beside the picture's address and name.
struct RowOptions: Hashable, Sendable {
  /// The columns, by the names that they have unless the command line says otherwise.
  enum Column: String, CaseIterable, Hashable, Sendable {
    /// Sizes in place of those of the command line: `64`, `64 128@2x`, or an array.
    case size
    /// Header fields for the requests of this row: a dictionary, or `Name: value` on each line.
    case headers
    /// `low`, `normal` or `high`.
    case priority
    /// Addresses that are tried in order: an array, or separated by spaces.
    case urls
    /// The name or the address of a row above, or an array of them: this row begins when they are over, whether they
    /// brought a picture or not.
    case depends
  }

  /// The sizes; none where those of the command line hold.
  var sizes: [SizeOption] = []
  /// Header fields for the requests of this row.
  var headers: [HeaderOption] = []
  /// How urgent the row is among those that wait.
  var priority = ThumbnailRequest.Priority.normal
  /// Addresses to try, in order, where the row's own brings no picture.
  var mirrors: [String] = []
  /// Names or addresses of rows above that go first.
  var depends: [String] = []
  /// A second line for people, in a gallery.
  var subtitle: String?
}

/// A column of ``RowOptions`` in a manifest.
struct OptionColumn: Hashable, Sendable {
  var column: RowOptions.Column
  /// What the manifest calls it.
  var name: String
}

extension RowOptions {
  /// The options in the `columns` of a row. `value` gives what a column holds, nil where the row has none.
  init(_ columns: [OptionColumn], _ value: (OptionColumn) -> Any?) throws(RowFlaw) {
    for column in columns {
      guard let value = value(column), !Self.isNothing(value) else { continue }
      do {
        try take(value, of: column.column)
      } catch {
        let reason = (error as? ValidationError)?.message ?? "\(error)"
        let option = "--\(column.column.rawValue)-column none"
        throw RowFlaw(reason: "\(column.name): \(reason) (\(option) ignores the column)")
      }
    }
  }

  /// The address to begin with: the row's `own`, or the first mirror where it has none. It is no mirror any more.
  mutating func takeAddress(own: String?, columns: String) throws(RowFlaw) -> String {
    guard let address = own ?? mirrors.first else { throw RowFlaw(reason: "no URL: there is no \(columns)") }
    mirrors.removeAll { $0 == address }
    return address
  }

  private mutating func take(_ value: Any, of column: Column) throws {
    switch column {
    case .size: sizes = try Self.words(value) { $0 == "," || $0.isWhitespace }.map { try SizeOption($0) }
    case .headers: headers = try Self.fields(value).map { try HeaderOption($0) }
    case .priority: priority = try Self.priority(value)
    case .urls: mirrors = try Self.words(value, separatedBy: \.isWhitespace)
    case .depends: depends = try Self.words(value, separatedBy: \.isNewline).map { $0.trimmingWhitespace() }
    }
  }

  private static func isNothing(_ value: Any) -> Bool {
    value is NSNull || (value as? String)?.trimmingWhitespace().isEmpty ?? false
  }

  private static func words(_ value: Any, separatedBy isSeparator: (Character) -> Bool) throws -> [String] {
    if let text = value as? String { return text.split(whereSeparator: isSeparator).map(String.init) }
    return try (value as? [Any] ?? [value]).map { element in
      guard let word = element as? String ?? (element as? Int).map(String.init) else {
        throw ValidationError("give a text, or an array of texts")
      }
      return word.trimmingWhitespace()
    }
  }

  private static func fields(_ value: Any) throws -> [String] {
    if let text = value as? String { return text.split(whereSeparator: \.isNewline).map(String.init) }
    guard let fields = value as? [String: Any] else { throw ValidationError("give a dictionary of texts") }
    return try fields.sorted { $0.key < $1.key }.map { name, value in
      guard let value = value as? String ?? (value as? Int).map(String.init) else {
        throw ValidationError("the value of \(name) is not a text")
      }
      return "\(name): \(value)"
    }
  }

  private static func priority(_ value: Any) throws -> ThumbnailRequest.Priority {
    let name = (value as? String)?.trimmingWhitespace().lowercased()
    guard let priority = ThumbnailRequest.Priority.allCases.first(where: { "\($0)" == name }) else {
      throw ValidationError("give low, normal or high")
    }
    return priority
  }
}
