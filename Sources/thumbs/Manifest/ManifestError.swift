/// Why a manifest cannot be read at all. The command ends with 65 (`EX_DATAERR`).
struct ManifestError: Error, Hashable, Sendable {
  /// Where in the file the trouble is.
  enum Place: Hashable, Sendable {
    /// In no particular place.
    case whole
    /// In this line, from 1.
    case line(Int)
    /// At this character of this line, both from 1.
    case column(Int, line: Int)
    /// In this item, from 1.
    case item(Int)
  }

  /// The path as it was given, or `standard input`.
  var manifest: String
  /// Where in the file the trouble is.
  var place: Place
  /// What is wrong: the rest of a sentence, without its full stop.
  var reason: String

  /// An error from its parts.
  init(_ manifest: String, at place: Place = .whole, _ reason: String) {
    self.manifest = manifest
    self.place = place
    self.reason = reason
  }
}

extension ManifestError: CustomStringConvertible {
  /// One line: file, place, reason.
  var description: String { place == .whole ? "\(manifest): \(reason)." : "\(manifest), \(place): \(reason)." }
}

extension ManifestError.Place: CustomStringConvertible {
  /// `line 3, column 7`.
  var description: String {
    switch self {
    case .whole: "somewhere"
    case .line(let line): "line \(line)"
    case .column(let column, let line): "line \(line), column \(column)"
    case .item(let number): "item \(number)"
    }
  }
}
