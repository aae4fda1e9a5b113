/// A pattern for output file names: text with fields in braces, such as `{stem}-{spec}.{ext}`.
struct NameTemplate: Hashable, Sendable {
  /// A placeholder for a value of the row or of the thumbnail.
  enum Field: String, CaseIterable, Hashable, Sendable {
    /// The row's name, or the stem if it has no name.
    case name
    /// The row's index among all rows, from 0.
    case index
    /// The host of the URL.
    case host
    /// The last component of the URL's path, without its extension.
    case stem
    /// The first eight hexadecimal digits of the source's hash.
    case hash
    /// The thumbnail's actual width in pixels.
    case width
    /// The thumbnail's actual height in pixels.
    case height
    /// The requested size, as in the report: `256x256`, `64x64@2x`.
    case spec
    /// `jpg`, `png` or `webp`.
    case ext
  }

  /// One part of the pattern.
  enum Piece: Hashable, Sendable {
    /// Literal text.
    case literal(String)
    /// The value of a field.
    case field(Field)
  }

  /// The parts, in order. No two literals are adjacent.
  let pieces: [Piece]

  /// `{stem}.{ext}`: the default for one size.
  static let oneSize = NameTemplate(pieces: [.field(.stem), .literal("."), .field(.ext)])
  /// `{stem}-{spec}.{ext}`: the default for several sizes.
  static let severalSizes = NameTemplate(
    pieces: [.field(.stem), .literal("-"), .field(.spec), .literal("."), .field(.ext)])

  init(pieces: [Piece]) {
    self.pieces = pieces
  }
}

extension NameTemplate.Field {
  /// True if the value is known only once the thumbnail exists.
  var isKnownLate: Bool {
    switch self {
    case .width, .height, .spec, .ext: true
    case .name, .index, .host, .stem, .hash: false
    }
  }
}

extension NameTemplate {
  /// The maximum number of bytes that do not come from the row: literals and the fields of the thumbnail.
  static let longestFixedPart = 150
  /// The maximum length in bytes of a field of the thumbnail, such as `16384x16384@8x`.
  static let longestLateField = 16

  /// The number of bytes in a name that do not come from the row, at most.
  var fixedLength: Int {
    pieces.reduce(0) { sum, piece in
      switch piece {
      case .literal(let text): sum + text.utf8.count
      case .field(let field): sum + (field.isKnownLate ? Self.longestLateField : 0)
      }
    }
  }

  /// This pattern if it contains `{spec}`, else with `-{spec}` added before the extension.
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

  /// True if no two rows can have the same name: the pattern begins with `{index}`, and no digit follows.
  var isUniqueToRow: Bool {
    guard pieces.first == .field(.index) else { return false }
    guard pieces.count > 1 else { return true }
    if case .literal(let text) = pieces[1] { return text.unicodeScalars.first?.properties.numericType == nil }
    return false
  }

  /// Returns true if the pattern contains `field`.
  func contains(_ field: Field) -> Bool { pieces.contains(.field(field)) }
}

extension NameTemplate: CustomStringConvertible {
  /// The source text of the pattern.
  var description: String {
    pieces.map { piece in
      switch piece {
      case .literal(let text): text
      case .field(let field): "{\(field.rawValue)}"
      }
    }.joined()
  }
}
