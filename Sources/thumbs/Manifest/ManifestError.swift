/// An error that makes a whole manifest unreadable. The command exits with 65 (`EX_DATAERR`).
struct ManifestError: Error, Hashable, Sendable {
  /// The place of an error in the file.
  enum Place: Hashable, Sendable {
    /// The file as a whole.
    case whole
    /// A line, from 1.
    case line(Int)
    /// A character of a line, both from 1.
    case column(Int, line: Int)
    /// An item, from 1.
    case item(Int)
  }

  /// The path as given, or `standard input`.
  var manifest: String
  /// The place of the error in the file.
  var place: Place
  /// The description of the error: the end of a sentence, without its period.
  var reason: String

  /// Creates an error from its parts.
  init(_ manifest: String, at place: Place = .whole, _ reason: String) {
    self.manifest = manifest
    self.place = place
    self.reason = reason
  }
}

extension ManifestError: CustomStringConvertible {
  /// One sentence with the file, the place and the reason.
  var description: String { place == .whole ? "\(manifest): \(reason)." : "\(manifest), \(place): \(reason)." }
}

extension ManifestError.Place: CustomStringConvertible {
  /// The place in words, such as `line 3, column 7`.
  var description: String {
    switch self {
    case .whole: "somewhere"
    case .line(let line): "line \(line)"
    case .column(let column, let line): "line \(line), column \(column)"
    case .item(let number): "item \(number)"
    }
  }
}
