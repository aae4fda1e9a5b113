import BatchFetch

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
    /// The folders of the URL's path, as subdirectories; left out for a URL without folders. Stands alone between
    /// slashes.
    case dir
    /// The folders and the stem. Stands at the beginning, or after a slash.
    case path
    /// The first eight hexadecimal digits of the source's hash, or up to 32 with a length, as in `{hash:16}`.
    case hash
    /// The thumbnail's actual width in pixels.
    case width
    /// The thumbnail's actual height in pixels.
    case height
    /// The requested size, as in the report: `256x256`, `64x64@2x`.
    case spec
    /// `jpg`, `png`, `webp`, `avif` or `gif`.
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
  /// `{host}.{ext}`: the default for icons of pages.
  static let host = NameTemplate(pieces: [.field(.host), .literal("."), .field(.ext)])
  /// `{path}.{ext}`: the default for directories of images.
  static let folders = NameTemplate(pieces: [.field(.path), .literal("."), .field(.ext)])
  /// `{host}/{path}.{ext}`: the folders of the URLs.
  static let mirror = NameTemplate(
    pieces: [.field(.host), .slash, .field(.path), .literal("."), .field(.ext)])

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
    case .name, .index, .host, .stem, .dir, .path, .hash: false
    }
  }

  /// True for a field whose value can be shortened to its first characters.
  var isText: Bool {
    switch self {
    case .name, .host, .stem, .hash: true
    case .index, .dir, .path, .width, .height, .spec, .ext: false
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

// MARK: Parsing

extension NameTemplate {
  /// True if the pattern has fields. Without one, every image gets the same name.
  var hasFields: Bool { pieces.contains { $0.field != nil } }

  /// Parses a pattern, and checks that it gives safe and distinct names, except that it may have no fields.
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
    if components.contains(where: { [[], [.literal(".")], [.literal("..")]].contains($0) }) { throw .badPath }
    if components.count > Self.deepest + 1 { throw .tooDeep }
    if components.contains(where: { $0.fixedLength > Self.longestFixedPart }) { throw .tooLong }
    for component in components {
      if component.contains(.field(.dir)), component.count > 1 { throw .misplaced(.dir) }
      if component.dropFirst().contains(.field(.path)) { throw .misplaced(.path) }
    }
    let folders = pieces.compactMap(\.field).filter { $0 == .dir || $0 == .path }
    if let field = folders.first, folders.count > 1 || components.last == [.field(.dir)] { throw .misplaced(field) }
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
  /// A field of folders that does not stand between slashes.
  case misplaced(NameTemplate.Field)
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
    case .misplaced(.dir): "{dir} stands for folders; put it between slashes, as in {dir}/{stem}.{ext}"
    case .misplaced(let field):
      "{\(field.rawValue)} begins with folders; put it first, or after a slash, as in {\(field.rawValue)}.{ext}"
    case .fieldsTouch(let first, let second):
      "put a character other than a digit, such as -, between {\(first.rawValue)} and {\(second.rawValue)}"
    }
  }

  private static let fields = NameTemplate.Field.allCases.map { "{\($0.rawValue)}" }.joined(separator: " ")
}

/// The parts of a URL that file names, tallies and filters use. They are those of the request, except that a URL with
/// other letters than ASCII, or one that is not valid, is taken as it is written.
struct SourceURLParts: Hashable, Sendable {
  private let authority: Substring
  private let path: Substring

  /// The parts of `url`.
  init(_ url: String) {
    // The key of an object is no path of a URL: a percent sign and `?` belong to it.
    if BucketFolder.isURL(url), let object = try? BucketURL(url) {
      (authority, path) = (object.bucket[...], "/\(object.key)".percentEncodedPath[...])
      return
    }
    let url = Self.canonical(url)
    // Compares bytes: a separator followed by a combining mark is part of another character.
    let end = url.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? url.endIndex
    let rest = url[..<end]
    let colon = rest.utf8.firstIndex(of: UInt8(ascii: ":")) ?? end
    guard rest[colon...].utf8.starts(with: "://".utf8) else {
      // A data: URL has no parts but its contents.
      (authority, path) = ("", rest[..<colon].lowercased() == "data" ? "" : rest)
      return
    }
    let start = rest.utf8.index(colon, offsetBy: 3)
    // In a URL that is not valid, a backslash belongs to the authority: it may be part of a password.
    let slash = rest[start...].utf8.firstIndex(of: UInt8(ascii: "/")) ?? end
    (authority, path) = (rest[start..<slash], rest[slash...])
  }

  private static func canonical(_ url: String) -> String {
    guard !SourceURL.isCanonical(url), url.utf8.allSatisfy({ $0 < 0x80 }) else { return url }
    return (try? SourceURL(url))?.description ?? url
  }

  /// The host and its port, without user and password; empty for a URL without a host.
  var server: Substring {
    let at = authority.utf8.lastIndex(of: UInt8(ascii: "@"))
    return at.map { authority[authority.utf8.index(after: $0)...] } ?? authority
  }

  /// The host, without user, password and port; empty for a URL without one.
  var host: String {
    let host = server
    if host.utf8.first == UInt8(ascii: "[") { return String(host.dropFirst().prefix { $0 != "]" }) }
    return host[..<(host.utf8.firstIndex(of: UInt8(ascii: ":")) ?? host.endIndex)].lowercased()
  }

  /// The path components before the last one, decoded. Empty ones are left out.
  var folders: [String] {
    let components = path.utf8.split(separator: UInt8(ascii: "/")).map(Substring.init)
    return components.dropLast().map(Self.decoded)
  }

  /// The last path component, decoded, without its extension; `image` if the path is empty.
  var stem: String {
    let slash = UInt8(ascii: "/")
    guard let end = path.utf8.lastIndex(where: { $0 != slash }) else { return "image" }
    let start = path.utf8[...end].lastIndex(of: slash).map { path.utf8.index(after: $0) } ?? path.startIndex
    let last = Self.decoded(Substring(path.utf8[start...end]))
    let dot = last.utf8.lastIndex(of: UInt8(ascii: ".")) ?? last.endIndex
    return dot == last.startIndex ? last : String(last[..<dot])
  }

  /// Percent-decodes `text`: `%C3%A9` becomes `é`. Returns `text` itself if the result is not UTF-8.
  private static func decoded(_ text: Substring) -> String {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let code = hexadecimal(rest.prefix(2)) {
        bytes.append(code)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(validating: bytes, as: UTF8.self) ?? String(text)
  }

  private static func hexadecimal(_ digits: Substring.UTF8View.SubSequence) -> UInt8? {
    guard digits.count == 2, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else { return nil }
    return UInt8(Substring(digits), radix: 16)
  }
}
