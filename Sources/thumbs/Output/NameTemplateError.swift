/// An error in a file name pattern.
enum NameTemplateError: Error, Hashable, Sendable {
  /// An opening brace without a closing one.
  case unclosedBrace
  /// A field that does not exist.
  case unknownField(String)
  /// A pattern without fields, which would give every image the same name.
  case noField
  /// A path that is absolute, ends with a slash, or contains an empty name, `.` or `..`.
  case badPath
  /// Too many subdirectories.
  case tooDeep
  /// A length that is out of range, or of a field that cannot be shortened, such as `width:3`.
  case badPrefix(String)
  /// A pattern that leaves too little room for the values from the row.
  case tooLong
  /// Two adjacent fields whose values cannot be told apart in a finished name.
  case fieldsTouch(NameTemplate.Field, NameTemplate.Field)
}

extension NameTemplateError: CustomStringConvertible {
  /// The fault and its remedy.
  var description: String {
    switch self {
    case .unclosedBrace: "a { is never closed"
    case .unknownField(let name): "there is no field {\(name)}; the fields are \(Self.fields)"
    case .noField: "every image would get the same name; use one of \(Self.fields)"
    case .badPath: "names stay below the output directory: no / at the start or the end, no //, . or .. between"
    case .tooDeep: "at most \(NameTemplate.deepest) subdirectories are possible"
    case .badPrefix(let text):
      "{\(text)} is invalid; {hash:N}, {stem:N}, {name:N} and {host:N} exist, N up to \(NameTemplate.longestPrefix)"
    case .tooLong: "too long; remove some text or fields"
    case .fieldsTouch(let first, let second):
      "put a character other than a digit, such as -, between {\(first.rawValue)} and {\(second.rawValue)}"
    }
  }

  private static let fields = NameTemplate.Field.allCases.map { "{\($0.rawValue)}" }.joined(separator: " ")
}
