import ArgumentParser
import BatchFetch
import Foundation
import ImageCache

/// The values of a manifest row besides its URL and name.
struct RowOptions: Hashable, HasUsualValue {
  /// The columns. Their raw values are their default names, which the command line can change.
  enum Column: String, CaseIterable, Hashable, Sendable {
    /// Sizes that replace those of the command line: `64`, `64 128@2x`, or an array.
    case size
    /// The part of the image that cropped thumbnails keep, in place of that of the command line: `30%,70%`, a point of
    /// the compass, `center` or `smart`.
    case focus
    /// Header fields for the requests of this row: a dictionary, or `Name: value` on each line.
    case headers
    /// `low`, `normal` or `high`.
    case priority
    /// URLs to try in order: an array, or separated by spaces.
    case urls
    /// The names or URLs of earlier rows: an array, or one on each line. This row starts when those have finished,
    /// whether they succeeded or failed.
    case depends
    /// The SHA-256 digest of the image file, in hexadecimal digits. Other bytes fail with `hash_mismatch`.
    case sha256
  }

  /// The maximum number of sizes of a row, so that no line of input makes any number of thumbnails.
  static let maxSizes = 64

  /// The sizes; empty if the sizes of the command line apply.
  var sizes: [SizeOption] = []
  /// The part of the image that cropped thumbnails keep; nil if the gravity of the command line applies.
  var focus: Gravity?
  /// Header fields for the requests of this row.
  var headers: [HeaderOption] = []
  /// The priority of the row among the waiting rows. Default normal.
  var priority = Priority.normal
  /// URLs to try in order if the row's own URL fails.
  var mirrors: [String] = []
  /// The names or URLs of earlier rows that must finish first.
  var depends: [String] = []
  /// The digest of the file that the row expects; nil for any.
  var digest: BodyDigest?
  /// The second line of the row in a gallery.
  var subtitle: String?
}

/// A column of ``RowOptions`` in a manifest.
struct OptionColumn: Hashable, Sendable {
  var column: RowOptions.Column
  /// The name of the column in the manifest.
  var name: String
  /// The way to ignore the column, for a message about its content. Default: an option of the command line.
  var ignoring = Ignoring.option

  enum Ignoring: Hashable, Sendable {
    case option
    case impossible
  }

  fileprivate var remedy: String {
    ignoring == .option ? " (--\(column.rawValue)-column none ignores the column)" : ""
  }
}

extension RowOptions {
  /// Parses the `columns` of a row. `value` returns the content of a column, or nil if the row does not have it.
  init(_ columns: [OptionColumn], _ value: (OptionColumn) -> Any?) throws(ParseError) {
    for column in columns {
      guard let value = value(column), !Self.isNothing(value) else { continue }
      do {
        try take(value, of: column.column)
      } catch {
        let reason = (error as? ValidationError)?.message ?? "\(error)"
        throw ParseError(reason: "\(column.name): \(reason)\(column.remedy)")
      }
    }
  }

  /// Returns the URL to try first, and removes it from the mirrors: the row's `own`, or else the first mirror. Without
  /// either, throws an error that lists the `columns` for the URL.
  mutating func takeURL(own: String?, columns: String) throws(ParseError) -> String {
    guard let url = own ?? mirrors.first else { throw ParseError(reason: "no URL: there is no \(columns)") }
    mirrors.removeAll { $0 == url }
    return url
  }

  private mutating func take(_ value: Any, of column: Column) throws {
    switch column {
    case .size: sizes = try Self.sizes(value)
    case .focus: focus = try Gravity(parsing: value as? String ?? "")
    case .headers: headers = try Self.fields(value).map { try HeaderOption($0) }
    case .priority: priority = try Self.priority(value)
    case .urls: mirrors = try Self.words(value, separatedBy: \.isWhitespace)
    case .sha256: digest = try Self.digest(value)
    case .depends: depends = try Self.words(value, separatedBy: \.isNewline).map { $0.trimmingWhitespace() }
    }
  }

  private static func isNothing(_ value: Any) -> Bool {
    value is NSNull || (value as? String)?.trimmingWhitespace().isEmpty ?? false
  }

  private static func sizes(_ value: Any) throws -> [SizeOption] {
    let words = try words(value) { $0 == "," || $0.isWhitespace }
    guard words.count <= maxSizes else { throw ValidationError("give at most \(maxSizes) sizes") }
    return try words.map { try SizeOption($0) }
  }

  private static func words(_ value: Any, separatedBy isSeparator: (Character) -> Bool) throws -> [String] {
    if let text = value as? String { return text.split(whereSeparator: isSeparator).map(String.init) }
    return try (value as? [Any] ?? [value]).map { element in
      guard let word = element as? String ?? (element as? Int).map(String.init) else {
        throw ValidationError("give a string, or an array of strings")
      }
      return word.trimmingWhitespace()
    }
  }

  private static func fields(_ value: Any) throws -> [String] {
    if let text = value as? String { return text.split(whereSeparator: \.isNewline).map(String.init) }
    guard let fields = value as? [String: Any] else { throw ValidationError("give a dictionary of strings") }
    return try fields.sorted { $0.key < $1.key }.map { name, value in
      guard let value = value as? String ?? (value as? Int).map(String.init) else {
        throw ValidationError("the value of \(name) is not a string")
      }
      return "\(name): \(value)"
    }
  }

  private static func digest(_ value: Any) throws -> BodyDigest {
    guard let digest = (value as? String).flatMap({ BodyDigest($0.trimmingWhitespace()) }) else {
      throw ValidationError("give a SHA-256 digest, which has 64 hexadecimal digits")
    }
    return digest
  }

  private static func priority(_ value: Any) throws -> Priority {
    let name = (value as? String)?.trimmingWhitespace().lowercased()
    guard let priority = Priority.allCases.first(where: { "\($0)" == name }) else {
      throw ValidationError("give low, normal or high")
    }
    return priority
  }
}
