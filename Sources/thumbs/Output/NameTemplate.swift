/// A pattern for output file names: text with fields in braces, such as `{stem}-{spec}.{ext}`. A slash separates a
/// subdirectory of the output directory from the rest, as in `{hash:2}/{hash}.{ext}`.
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
    /// The first eight hexadecimal digits of the source's hash, or up to 32 with a length, as in `{hash:16}`.
    case hash
    /// The thumbnail's actual width in pixels.
    case width
    /// The thumbnail's actual height in pixels.
    case height
    /// The requested size, as in the report: `256x256`, `64x64@2x`.
    case spec
    /// `jpg`, `png`, `webp` or `avif`.
    case ext
  }

  /// One part of the pattern.
  enum Piece: Hashable, Sendable {
    /// Literal text.
    case literal(String)
    /// The value of a field.
    case field(Field)
    /// The first characters of the value of a field, as many as the number says.
    case prefix(Field, Int)
    /// The end of the name of a subdirectory.
    case slash

    /// The field; nil for text.
    var field: Field? {
      switch self {
      case .field(let field), .prefix(let field, _): field
      case .literal, .slash: nil
      }
    }
  }

  /// The parts, in order. No two literals are adjacent, and none contains a slash.
  let pieces: [Piece]
  /// The parts of the subdirectories and of the file name, in order.
  let components: [ArraySlice<Piece>]

  /// `{stem}.{ext}`: the default for one size.
  static let oneSize = NameTemplate(pieces: [.field(.stem), .literal("."), .field(.ext)])
  /// `{stem}-{spec}.{ext}`: the default for several sizes.
  static let severalSizes = NameTemplate(
    pieces: [.field(.stem), .literal("-"), .field(.spec), .literal("."), .field(.ext)])

  init(pieces: [Piece]) {
    self.pieces = pieces
    components = pieces.split(separator: .slash, omittingEmptySubsequences: false)
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

  /// True for a field whose value can be shortened to its first characters.
  var isText: Bool {
    switch self {
    case .name, .host, .stem, .hash: true
    case .index, .width, .height, .spec, .ext: false
    }
  }
}

extension NameTemplate {
  /// The maximum number of bytes that do not come from the row: literals and the fields of the thumbnail.
  static let longestFixedPart = 150
  /// The maximum length in bytes of a field of the thumbnail, such as `16384x16384@8x`.
  static let longestLateField = 16

  /// The maximum number of subdirectories in a name.
  static let deepest = 8
  /// The number of hexadecimal digits in `{hash}`.
  static let hashLength = 8
  /// The largest N in `{field:N}`.
  static let longestPrefix = 99

  /// This pattern if it contains `{spec}`, else with `-{spec}` added before the extension.
  var tellingSizesApart: NameTemplate {
    if contains(.spec) { return self }
    var pieces = pieces
    let file = (pieces.lastIndex(of: .slash) ?? -1) + 1
    let dot = pieces[file...].lastIndex { if case .literal(let text) = $0 { text.hasSuffix(".") } else { false } }
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
    switch pieces[1] {
    case .slash: return true
    case .literal(let text): return text.unicodeScalars.first?.properties.numericType == nil
    case .field, .prefix: return false
    }
  }

  /// Returns true if the pattern contains `field`.
  func contains(_ field: Field) -> Bool { pieces.contains(.field(field)) }
}

extension Sequence<NameTemplate.Piece> {
  /// The number of bytes in a name that do not come from the row, at most.
  var fixedLength: Int {
    reduce(0) { sum, piece in
      switch piece {
      case .literal(let text): sum + text.utf8.count
      case .field(let field): sum + (field.isKnownLate ? NameTemplate.longestLateField : 0)
      case .prefix, .slash: sum
      }
    }
  }
}

extension NameTemplate: CustomStringConvertible {
  /// The source text of the pattern.
  var description: String {
    pieces.map { piece in
      switch piece {
      case .literal(let text): text
      case .field(let field): "{\(field.rawValue)}"
      case .prefix(let field, let length): "{\(field.rawValue):\(length)}"
      case .slash: "/"
      }
    }.joined()
  }
}
