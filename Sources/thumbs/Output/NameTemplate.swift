/// The pattern of output file names: text with fields in braces, such as `{stem}-{spec}.{ext}`.
struct NameTemplate: Hashable, Sendable {
  /// What a field stands for.
  enum Field: String, CaseIterable, Hashable, Sendable {
    /// The row's name, or its stem where it has none.
    case name
    /// The row's place among all rows, from 0.
    case index
    /// The host of the address.
    case host
    /// The last part of the address's path, without its extension.
    case stem
    /// Eight hexadecimal digits that stand for the address.
    case hash
    /// The thumbnail's real width in pixels.
    case width
    /// The thumbnail's real height in pixels.
    case height
    /// The size asked for, as in the report: `256x256`, `64x64@2x`.
    case spec
    /// `jpg` or `png`.
    case ext
  }

  /// A part of the pattern.
  enum Piece: Hashable, Sendable {
    /// Text that stands for itself.
    case literal(String)
    /// The value of a field.
    case field(Field)
  }

  /// The parts, in order. Between two literals there is a field.
  let pieces: [Piece]

  /// `{stem}.{ext}`: the default for one size.
  static let oneSize = NameTemplate(pieces: [.field(.stem), .literal("."), .field(.ext)])
  /// `{stem}-{spec}.{ext}`: the default for several sizes.
  static let severalSizes = NameTemplate(
    pieces: [.field(.stem), .literal("-"), .field(.spec), .literal("."), .field(.ext)])

  private init(pieces: [Piece]) {
    self.pieces = pieces
  }
}

extension NameTemplate.Field {
  /// Whether the value is known only when the thumbnail is there.
  var isKnownLate: Bool {
    switch self {
    case .width, .height, .spec, .ext: true
    case .name, .index, .host, .stem, .hash: false
    }
  }
}

extension NameTemplate {
  /// The most bytes of a name that may be the same for every row: literals, and the fields of the thumbnail.
  static let longestFixedPart = 150
  /// The most bytes that a field of the thumbnail takes: `16384x16384@8x`.
  static let longestLateField = 16

  /// The most bytes of a name that do not come from the row.
  var fixedLength: Int {
    pieces.reduce(0) { sum, piece in
      switch piece {
      case .literal(let text): sum + text.utf8.count
      case .field(let field): sum + (field.isKnownLate ? Self.longestLateField : 0)
      }
    }
  }

  /// The pattern in `text`.
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

  /// This pattern where it tells sizes apart, else with `-{spec}` before the extension.
  var tellingSizesApart: NameTemplate {
    if contains(.spec) { return self }
    var pieces = pieces
    let dot = pieces.lastIndex { if case .literal(let text) = $0 { text.hasSuffix(".") } else { false } }
    guard let dot, case .literal(let text) = pieces[dot] else {
      return NameTemplate(pieces: pieces + [.literal("-"), .field(.spec)])
    }
    pieces[dot...dot] = [.literal(text.dropLast() + "-"), .field(.spec), .literal(".")]
    return NameTemplate(pieces: pieces)
  }

  /// Whether no two rows can have the same name: it begins with their index, and no digit follows.
  var isUniqueToRow: Bool {
    guard pieces.first == .field(.index) else { return false }
    guard pieces.count > 1 else { return true }
    if case .literal(let text) = pieces[1] { return text.unicodeScalars.first?.properties.numericType == nil }
    return false
  }

  /// Whether the pattern has `field`.
  func contains(_ field: Field) -> Bool { pieces.contains(.field(field)) }

  private func check() throws(NameTemplateError) {
    guard pieces.contains(where: { if case .field = $0 { true } else { false } }) else { throw .noField }
    let literals = pieces.compactMap { if case .literal(let text) = $0 { text } else { nil } }
    if literals.contains(where: { $0.contains("/") }) { throw .slash }
    if fixedLength > Self.longestFixedPart { throw .tooLong }
    try checkFieldsAreApart()
  }

  /// Between what is known of a row and what is known only of its thumbnail stands something that is no digit.
  /// Only then two rows with different beginnings can never come to the same name: `a1` at 28 pixels and `a` at 128.
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

extension NameTemplate: CustomStringConvertible {
  /// The pattern as it is written.
  var description: String {
    pieces.map { piece in
      switch piece {
      case .literal(let text): text
      case .field(let field): "{\(field.rawValue)}"
      }
    }.joined()
  }
}
