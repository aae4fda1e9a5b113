extension NameTemplate {
  /// Parses a pattern, and checks that it gives safe and distinct names.
  init(_ text: String) throws(NameTemplateError) {
    var pieces: [Piece] = []
    var rest = text[...]
    while let open = rest.firstIndex(of: "{") {
      guard let close = rest[open...].firstIndex(of: "}") else { throw .unclosedBrace }
      pieces += Self.literals(rest[..<open])
      pieces.append(try Self.placeholder(rest[rest.index(after: open)..<close]))
      rest = rest[rest.index(after: close)...]
    }
    self.init(pieces: pieces + Self.literals(rest))
    try check()
  }

  /// Returns the pieces of text outside braces.
  private static func literals(_ text: Substring) -> [Piece] {
    let names = FileNameText.components(of: text)
    return Array(names.map { $0.isEmpty ? [] : [Piece.literal($0)] }.joined(separator: [.slash]))
  }

  /// Returns the piece for the text inside braces: `name`, or `name:N` for its first characters.
  private static func placeholder(_ text: Substring) throws(NameTemplateError) -> Piece {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard let field = Field(rawValue: String(parts[0])) else { throw .unknownField(String(parts[0])) }
    guard parts.count > 1 else { return .field(field) }
    guard field.isText, let length = Int(parts[1]), (1...longestPrefix).contains(length) else {
      throw .badPrefix(String(text))
    }
    return .prefix(field, length)
  }

  private func check() throws(NameTemplateError) {
    guard pieces.contains(where: { $0.field != nil }) else { throw .noField }
    if components.contains(where: { [[], [.literal(".")], [.literal("..")]].contains($0) }) { throw .badPath }
    if components.count > Self.deepest + 1 { throw .tooDeep }
    if components.contains(where: { $0.fixedLength > Self.longestFixedPart }) { throw .tooLong }
    try checkFieldsAreApart()
  }

  /// Checks that a character other than a digit separates fields of the row from fields of the thumbnail.
  /// Otherwise two rows could reach the same name: `{stem}{width}` gives `a128` for `a1` at 28 pixels and for `a` at
  /// 128.
  private func checkFieldsAreApart() throws(NameTemplateError) {
    var last: Field?
    for piece in pieces {
      switch piece {
      case .slash: last = nil
      case .literal(let text):
        if text.contains(where: { !$0.isNumber }) { last = nil }
      case .field(let field), .prefix(let field, _):
        if let last, last.isKnownLate != field.isKnownLate { throw .fieldsTouch(last, field) }
        last = field
      }
    }
  }
}
