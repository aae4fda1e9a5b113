/// What is wrong with a pattern of file names.
enum NameTemplateError: Error, Hashable, Sendable {
  /// A brace opens a field and nothing closes it.
  case unclosedBrace
  /// There is no such field.
  case unknownField(String)
  /// Every picture would get the same name.
  case noField
  /// The pattern names a file, not a path.
  case slash
  /// Too little room is left for what comes from the row.
  case tooLong
  /// Two fields cannot be told apart in a finished name.
  case fieldsTouch(NameTemplate.Field, NameTemplate.Field)
}

extension NameTemplateError: CustomStringConvertible {
  /// What is wrong and what to do.
  var description: String {
    switch self {
    case .unclosedBrace: "a { is never closed"
    case .unknownField(let name): "there is no field {\(name)}; the fields are \(Self.fields)"
    case .noField: "every picture would get the same name; use one of \(Self.fields)"
    case .slash: "a name has no /; all files go into the output directory"
    case .tooLong: "too long; leave out some of the text or the fields"
    case .fieldsTouch(let first, let second):
      "between {\(first.rawValue)} and {\(second.rawValue)} there must be a character that is no digit, such as -"
    }
  }

  private static let fields = NameTemplate.Field.allCases.map { "{\($0.rawValue)}" }.joined(separator: " ")
}
