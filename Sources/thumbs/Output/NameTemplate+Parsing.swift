extension NameTemplate {
  /// Parses a pattern, and checks that it gives safe and distinct names.
  init(_ text: String) throws(NameTemplateError) {
    var pieces: [Piece] = []
    var rest = text[...]
    while let open = rest.firstIndex(of: "{") {
      guard let close = rest[open...].firstIndex(of: "}") else { throw .unclosedBrace }
      let name = String(rest[rest.index(after: open)..<close])
      guard let field = Field(rawValue: name) else { throw .unknownField(name) }
      if open > rest.startIndex { pieces.append(.literal(String(rest[..<open]))) }
      pieces.append(.field(field))
      rest = rest[rest.index(after: close)...]
    }
    if !rest.isEmpty { pieces.append(.literal(String(rest))) }
    self.pieces = pieces
    try check()
  }

  private func check() throws(NameTemplateError) {
    guard pieces.contains(where: { if case .field = $0 { true } else { false } }) else { throw .noField }
    let literals = pieces.compactMap { if case .literal(let text) = $0 { text } else { nil } }
    if literals.contains(where: { $0.contains("/") }) { throw .slash }
    if fixedLength > Self.longestFixedPart { throw .tooLong }
    try checkFieldsAreApart()
  }

  /// Checks that a character other than a digit separates fields of the row from fields of the thumbnail.
  /// Otherwise two rows could reach the same name: `{stem}{width}` gives `a128` for `a1` at 28 pixels and for `a` at
  /// 128.
  private func checkFieldsAreApart() throws(NameTemplateError) {
    var last: Field?
    for piece in pieces {
      switch piece {
      case .literal(let text):
        if text.contains(where: { !$0.isNumber }) { last = nil }
      case .field(let field):
        if let last, last.isKnownLate != field.isKnownLate { throw .fieldsTouch(last, field) }
        last = field
      }
    }
  }
}
