/// An error in an ``OutputName/pattern``.
struct PatternFlaw: Error, Hashable, Sendable {}

extension OutputName {
  /// The names as a string: settled text, and the thumbnail's fields in braces, as in `a-{spec}.{ext}`. A brace in the
  /// text is doubled.
  var pattern: String {
    parts.map { part in
      switch part {
      case .literal(let text), .value(let text): text.replacing("{", with: "{{")
      case .field(let field): "{\(field.rawValue)}"
      case .slash: "/"
      }
    }.joined()
  }

  /// Parses a ``pattern``.
  ///
  /// - Throws: A ``PatternFlaw`` if the names would lead out of the directory, or for a field that is known before the
  ///   thumbnail.
  init(pattern text: String) throws(PatternFlaw) {
    var parts: [Part] = []
    var rest = text[...]
    while let open = rest.firstIndex(of: "{") {
      parts += Self.literals(rest[..<open])
      rest = rest[rest.index(after: open)...]
      if rest.first == "{" {
        parts.append(.literal("{"))
        rest.removeFirst()
      } else {
        guard let close = rest.firstIndex(of: "}"), let field = NameTemplate.Field(rawValue: String(rest[..<close])),
          field.isKnownLate
        else { throw PatternFlaw() }
        parts.append(.field(field))
        rest = rest[rest.index(after: close)...]
      }
    }
    let components = FileNameText.components(of: text)
    guard components.count <= NameTemplate.deepest + 1, components.allSatisfy(Self.isSafe) else { throw PatternFlaw() }
    self.parts = parts + Self.literals(rest)
  }

  private static func isSafe(_ component: String) -> Bool {
    !["", ".", ".."].contains(component) && FileNameText.cleaned(component) == component
  }

  private static func literals(_ text: Substring) -> [Part] {
    Array(FileNameText.components(of: text).map { [Part.literal($0)] }.joined(separator: [.slash]))
  }
}
