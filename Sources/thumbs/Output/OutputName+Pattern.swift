/// Why a text is no ``OutputName/pattern``.
struct PatternFlaw: Error, Hashable, Sendable {}

extension OutputName {
  /// The names as one text: what is settled, and the fields of the thumbnail in braces, as in `a-{spec}.{ext}`. A brace
  /// that opens no field is doubled.
  var pattern: String {
    parts.map { part in
      switch part {
      case .literal(let text), .value(let text): text.replacing("{", with: "{{")
      case .field(let field): "{\(field.rawValue)}"
      }
    }.joined()
  }

  /// The names whose ``pattern`` is `text`. One that would lead out of the directory is refused, as is a field that is
  /// known before the thumbnail.
  init(pattern text: String) throws(PatternFlaw) {
    var parts: [Part] = []
    var rest = text[...]
    while let open = rest.firstIndex(of: "{") {
      parts.append(.literal(String(rest[..<open])))
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
    parts.append(.literal(String(rest)))
    guard FileNameText.cleaned(text) == text else { throw PatternFlaw() }
    self.parts = parts
  }
}
