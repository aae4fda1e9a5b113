import ImageCache

/// The file names of one row, settled except for the fields that only a finished thumbnail has. They are paths relative
/// to the output directory.
struct OutputName: Hashable, Sendable {
  /// One part of the names.
  enum Part: Hashable, Sendable {
    /// Text from the pattern.
    case literal(String)
    /// Text from the row.
    case value(String)
    /// A field of the thumbnail.
    case field(NameTemplate.Field)
    /// The end of the name of a subdirectory.
    case slash

    fileprivate var isValue: Bool { if case .value = self { true } else { false } }
    /// True for a field that only the finished thumbnail settles; the requested size is known beforehand.
    fileprivate var isSettledLate: Bool { if case .field(let field) = self { field != .spec } else { false } }
  }

  /// The bytes reserved for a suffix of 32 digits and for what ``FileNameText`` adds.
  private static let reserve = 40

  /// The parts, in order.
  var parts: [Part]

  /// Creates the names that `template` describes, with `values` for the fields of the row and `folders` for `{dir}` and
  /// `{path}`. Shortens values, the longest first, so that no name of a directory or file is too long, and leaves out
  /// the innermost folders that would be too deep.
  init(_ template: NameTemplate, folders: () -> [String] = { [] }, values: (NameTemplate.Field) -> String) {
    let components = template.components.flatMap { pieces -> [[Part]] in
      let rest = pieces.first == .field(.path) ? [.field(.stem)] + pieces.dropFirst() : pieces
      let isFolders = pieces.first == .field(.dir)
      let parts = isFolders ? [] : [rest.map { Self.part($0, values) }]
      guard isFolders || pieces.first == .field(.path) else { return parts.map { Self.fit($0, pieces) } }
      let depth = max(0, NameTemplate.deepest + 1 - template.components.count)
      let outer = folders().prefix(depth).map { [Part.value(FileNameText.cleaned(value: $0))] }
      return (outer + parts).map { Self.fit($0, pieces) }
    }
    parts = Array(components.joined(separator: [.slash]))
  }

  private static func fit(_ parts: [Part], _ pieces: ArraySlice<NameTemplate.Piece>) -> [Part] {
    shorten(parts, to: FileNameText.longestName - reserve - pieces.fixedLength)
  }

  private static func part(_ piece: NameTemplate.Piece, _ values: (NameTemplate.Field) -> String) -> Part {
    switch piece {
    case .literal(let text): .literal(FileNameText.cleaned(text))
    case .field(.hash): .value(String(values(.hash).prefix(NameTemplate.hashLength)))
    case .field(let field): field.isKnownLate ? .field(field) : .value(FileNameText.cleaned(value: values(field)))
    case .prefix(let field, let length): .value(String(FileNameText.cleaned(value: values(field)).prefix(length)))
    case .slash: .slash
    }
  }

  /// Returns the path of `thumbnail`, relative to the output directory.
  func fileName(of thumbnail: Thumbnail) -> String {
    fileName { field in
      switch field {
      case .width: String(thumbnail.size.width)
      case .height: String(thumbnail.size.height)
      case .spec: thumbnail.spec.label
      default: thumbnail.format.fileExtension
      }
    }
  }

  /// Returns the path of a thumbnail before it exists. Fields that only the image settles stay in braces.
  func fileName(of spec: ThumbnailSpec) -> String {
    fileName { field in
      let unsettled = "{\(field.rawValue)}"
      return switch field {
      case .spec: spec.label
      case .ext: spec.format.output?.fileExtension ?? unsettled
      default: unsettled
      }
    }
  }

  /// Returns the text that reserves the file for `spec`: the name in lower case, with `0` for each field that only the
  /// thumbnail settles. No two sources may have the same claim.
  func claim(of spec: ThumbnailSpec) -> String {
    let name = fileName { $0 == .spec ? spec.label : "0" }.lowercased()
    return isAmbiguous ? String(name.filter { !Self.lateCharacters.contains($0) }) : name
  }

  /// True if the names contain the size in pixels. Such a name may turn out to equal that of another row, one with
  /// several sizes: `x-64x48-{spec}` and `x-{width}x{height}` for example.
  var dependsOnPixels: Bool { parts.contains(.field(.width)) || parts.contains(.field(.height)) }

  /// True if text from the row stands both before and after a field that only the thumbnail settles. Then two rows can
  /// reach the same name in different ways: `a-{width}-96-b` and `a-96-{width}-b`, if both are 96 pixels wide.
  private var isAmbiguous: Bool {
    guard let first = parts.firstIndex(where: \.isSettledLate), let last = parts.lastIndex(where: \.isSettledLate)
    else {
      return false
    }
    return parts[..<first].contains(where: \.isValue) && parts[first...].contains(where: \.isValue)
      || parts[first...last].contains(where: \.isValue)
  }

  /// The characters of widths, heights and extensions. Names that are equal without them may turn out to be the same.
  /// Those of AVIF count on machines without its encoder as well, so that all machines give the same names.
  private static let lateCharacters = Set(
    "0123456789" + (OutputFormat.inProcess + [.avif]).map(\.fileExtension).joined())

  /// Returns these names with `suffix` before the extension.
  func adding(suffix: String) -> OutputName {
    var copy = self
    let file = (parts.lastIndex(of: .slash) ?? -1) + 1
    for index in parts[file...].indices.reversed() {
      if case .literal(let text) = parts[index], let dot = text.lastIndex(of: ".") {
        copy.parts[index] = .literal(text[..<dot] + suffix + text[dot...])
        return copy
      }
    }
    copy.parts.append(.literal(suffix))
    return copy
  }

  private func fileName(value: (NameTemplate.Field) -> String) -> String {
    let texts = parts.map { part in
      switch part {
      case .literal(let text), .value(let text): text
      case .field(let field): value(field)
      case .slash: "/"
      }
    }
    guard parts.contains(.slash) else { return FileNameText.guarded(texts.joined()) }
    return FileNameText.components(of: texts.joined()).map(FileNameText.guarded).joined(separator: "/")
  }

  /// Returns `parts` with values shortened to `limit` bytes in total, the longest first.
  private static func shorten(_ parts: [Part], to limit: Int) -> [Part] {
    let lengths = parts.map { if case .value(let text) = $0 { text.utf8.count } else { 0 } }
    let excess = lengths.reduce(0, +) - limit
    guard excess > 0, let longest = lengths.indices.max(by: { lengths[$0] < lengths[$1] }),
      case .value(let text) = parts[longest]
    else { return parts }
    var parts = parts
    parts[longest] = .value(FileNameText.truncated(text, to: max(0, text.utf8.count - excess)))
    return shorten(parts, to: limit)
  }
}

// MARK: Pattern

/// An error in an ``OutputName/pattern``.
struct PatternError: Error, Hashable, Sendable {}

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
  /// - Throws: A ``PatternError`` if the names would lead out of the directory, or for a field that is known before the
  ///   thumbnail.
  init(pattern text: String) throws(PatternError) {
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
        else { throw PatternError() }
        parts.append(.field(field))
        rest = rest[rest.index(after: close)...]
      }
    }
    let components = FileNameText.components(of: text)
    guard components.count <= NameTemplate.deepest + 1, components.allSatisfy(Self.isSafe) else { throw PatternError() }
    self.parts = parts + Self.literals(rest)
  }

  private static func isSafe(_ component: String) -> Bool {
    !["", ".", ".."].contains(component) && FileNameText.cleaned(component) == component
  }

  private static func literals(_ text: Substring) -> [Part] {
    Array(FileNameText.components(of: text).map { [Part.literal($0)] }.joined(separator: [.slash]))
  }
}

/// Makes text safe for use in file names.
enum FileNameText {
  /// The maximum length of a file name in bytes: `NAME_MAX` on Linux.
  static let longestName = 255

  /// Replaces separators, control characters, bidirectional controls and characters that other systems forbid in file
  /// names with `_`.
  fileprivate static func cleaned(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isUnfit) else { return text }
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { result.append(isUnfit(scalar) ? "_" : scalar) }
    return String(result)
  }

  /// Cleans the value of a field. Leading dots become `_`, so that no value is taken for an extension; an empty value
  /// becomes `_`.
  fileprivate static func cleaned(value: String) -> String {
    let text = cleaned(value)
    return text.isEmpty ? "_" : masked(text) { $0 == "." }
  }

  /// Replaces leading dots, which hide a file, and leading dashes, which look like an option, with `_`, and puts `_`
  /// before a name that Windows reserves for a device. An empty name becomes `_`.
  fileprivate static func guarded(_ name: String) -> String {
    if name.isEmpty { return "_" }
    let stem = Substring(name.utf8.prefix { $0 != UInt8(ascii: ".") })
    if deviceLengths.contains(stem.utf8.count), devices.contains(stem.uppercased()) { return "_" + name }
    return masked(name) { $0 == "." || $0 == "-" }
  }

  /// Replaces each leading scalar that is `unwanted` with `_`. Compares scalars, not characters, because that is what
  /// systems see: a dot with a combining accent still hides a file.
  private static func masked(_ text: String, _ unwanted: (Unicode.Scalar) -> Bool) -> String {
    let rest = text.unicodeScalars.drop(while: unwanted)
    guard rest.startIndex > text.startIndex else { return text }
    let count = text.unicodeScalars.distance(from: text.startIndex, to: rest.startIndex)
    return String(repeating: "_", count: count) + String(rest)
  }

  /// Returns the names between the slashes of `path`. Splits bytes, as systems do: a slash with a combining accent, one
  /// character, still ends a name.
  static func components(of path: some StringProtocol) -> [String] {
    path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  /// Returns the longest prefix of `text` that has at most `limit` bytes and splits no character.
  static func truncated(_ text: String, to limit: Int) -> String {
    guard text.utf8.count > limit else { return text }
    var count = 0
    let whole = text.prefix { character in
      count += character.utf8.count
      return count <= limit
    }
    if !whole.isEmpty { return String(whole) }
    // The first character alone, with its combining marks, is too long.
    return String(text.unicodeScalars.prefix(limit / 4))
  }

  private static func isUnfit(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "/", "\\", ":", "*", "?", "\"", "<", ">", "|": true
    case "\u{61C}", "\u{200E}", "\u{200F}", "\u{2028}"..."\u{202E}", "\u{2066}"..."\u{2069}", "\u{FEFF}": true
    // Category Cc, which Unicode guarantees never to change.
    case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}": true
    default: false
    }
  }

  /// The names that Windows reserves for devices, with any extension.
  private static let devices: Set<String> = Set(
    ["CON", "PRN", "AUX", "NUL"] + (1...9).flatMap { ["COM\($0)", "LPT\($0)"] })
  /// The lengths of device names in bytes. Rules out most other names without uppercasing them.
  private static let deviceLengths = 3...4
}
